//! One allocator under eight threads, epoch after epoch. After each, no block is left: the statistics
//! say so, the device has everything back, and what the host holds can be compared.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use neuronx_mem::detector::DetectorOptions;
use neuronx_mem::sim::SimulatedRuntime;
use neuronx_mem::snapshot::history::NoStacks;
use neuronx_mem::streams::worker::Signal;
use neuronx_mem::{Allocator, Device, DeviceId, Stream};

use crate::check;
use crate::oracle::Oracle;
use crate::random::Random;
use crate::thread::{Shared, Thread};

pub(crate) const N_THREADS: u64 = 8;
pub(crate) const N_STREAMS: usize = 4;

/// Operations of one thread in one epoch.
const OPERATIONS: u64 = 10_000;

/// Device memory: little, so that recovery runs often.
const MEMORY_BYTES: u64 = 768 << 20;

/// What the detector keeps back from reuse.
const QUARANTINE_BYTES: u64 = 16 << 20;

/// Longer than any epoch on any machine: then threads wait for each other.
const DEADLOCK: Duration = Duration::from_secs(300);

/// Who completes work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Driver {
    /// The threads, any of them at any time.
    Caller,
    /// The device's worker; streams are stalled and let go in random order.
    Worker,
}

/// One allocator for the whole run.
pub(crate) struct Soak {
    driver: Driver,
    /// The detector watches, and must find nothing.
    is_watched: bool,
    runtime: Arc<SimulatedRuntime>,
    device: Device,
    streams: Vec<Stream>,
    /// Work that runs on the worker counts there too.
    oracle: Arc<Oracle>,
}

impl Soak {
    pub(crate) fn new(driver: Driver, is_watched: bool) -> Result<Self, String> {
        let runtime = Arc::new(SimulatedRuntime::builder().memory_bytes(MEMORY_BYTES).build());
        let builder = Allocator::builder().shared_runtime(runtime.clone());
        let builder = if driver == Driver::Worker { builder.worker() } else { builder };
        // Little is remembered, so that the limits are met.
        let limits =
            DetectorOptions::default().with_max_freed_blocks(1000).with_quarantine_bytes(QUARANTINE_BYTES);
        let builder = if is_watched { builder.detector(limits) } else { builder };
        let allocator = builder.build().map_err(|error| error.to_string())?;
        let device = allocator.device(DeviceId(0)).map_err(|error| error.to_string())?.clone();
        // Native stacks would take longer than all the rest.
        device.set_stack_provider(NoStacks);
        let mut streams = vec![device.default_stream()];
        while streams.len() < N_STREAMS {
            streams.push(device.new_stream().map_err(|error| error.to_string())?);
        }
        let oracle = Arc::default();
        Ok(Self { driver, is_watched, runtime, device, streams, oracle })
    }

    /// Runs one epoch; how many operations that was.
    pub(crate) fn run_epoch(&self, seed: u64, epoch: u64) -> Result<u64, String> {
        let at = |thread: u64, message: String| {
            format!("{:?} driver, epoch {epoch}, thread {thread}: {message}", self.driver)
        };
        let passed_on = Mutex::new(Vec::new());
        let (device, streams, oracle) = (&self.device, &self.streams[..], &self.oracle);
        let shared = Shared { device, streams, driver: self.driver, oracle, passed_on: &passed_on };
        let (stalls, to_set) = sync_channel(64);
        let (done, is_done) = mpsc::channel();
        thread::scope(|scope| {
            let setter = scope.spawn(move || set_in_any_order(&to_set, Random::new(seed, epoch, N_THREADS)));
            let threads: Vec<_> = (0..N_THREADS)
                .map(|number| {
                    let random = Random::new(seed, epoch, number);
                    let (shared, stalls, done) = (&shared, stalls.clone(), done.clone());
                    let thread = Thread { shared, random, stalls, blocks: Vec::new(), n_ooms: 0 };
                    scope.spawn(move || {
                        let result = thread.run(OPERATIONS);
                        // The one that listens ends when all have ended.
                        let _ = done.send(());
                        result
                    })
                })
                .collect();
            drop((stalls, done));
            self.wait_for(&is_done, seed, epoch);
            for (number, thread) in (0..).zip(threads) {
                let joined = thread.join().map_err(|_| at(number, "panicked".to_owned()))?;
                joined.map_err(|message| at(number, message))?;
            }
            setter.join().map_err(|_| at(N_THREADS, "panicked".to_owned()))
        })?;
        for (block, streams) in passed_on.into_inner().unwrap_or_else(PoisonError::into_inner) {
            self.oracle.give(block.address(), &streams);
            drop(block);
        }
        self.end_epoch().map_err(|message| at(N_THREADS, message))?;
        Ok(N_THREADS * OPERATIONS)
    }

    /// What the run came to.
    pub(crate) fn summary(&self) -> String {
        let counters = self.device.memory_stats().counters();
        let detector = if self.is_watched { " with detector" } else { "" };
        format!(
            "{:?} driver{detector}: {} requests, {} frees, {} retries, {} out of memory, {} segments",
            self.driver,
            counters.allocation_requests,
            counters.tensor_frees,
            counters.alloc_retries,
            counters.ooms,
            counters.device_allocations,
        )
    }

    /// Waits for all threads, but not for ever: a deadlock has to show, and its seed.
    fn wait_for(&self, is_done: &Receiver<()>, seed: u64, epoch: u64) {
        for n_done in 0..N_THREADS {
            if is_done.recv_timeout(DEADLOCK) == Err(RecvTimeoutError::Timeout) {
                eprintln!(
                    "error: {:?} driver, epoch {epoch}: {} threads are stuck, seed {seed}\n{:?}",
                    self.driver,
                    N_THREADS - n_done,
                    self.device,
                );
                // The threads cannot be ended one by one.
                std::process::exit(1);
            }
        }
    }

    /// No block is left and all work is done: so the statistics say, and the device has all back.
    fn end_epoch(&self) -> Result<(), String> {
        self.device.try_synchronize().map_err(|error| error.to_string())?;
        if self.driver == Driver::Caller {
            for (submitted, completed) in self.oracle.submitted.iter().zip(&self.oracle.completed) {
                completed.store(submitted.load(SeqCst), SeqCst);
            }
        }
        check::reading(&self.device)?;
        check::pool(&self.device)?;
        let stats = self.device.memory_stats();
        // What the detector keeps back leaves with the cache.
        self.device.empty_cache().map_err(|error| error.to_string())?;
        if self.device.memory_allocated() != 0 || !stats.is_settled() {
            return Err(format!("blocks are left: {:?}", self.device));
        }
        if let Some(finding) = self.device.detector_findings().first() {
            return Err(format!("the detector found what is not there: {finding}"));
        }
        self.oracle.end_epoch()?;
        let counters = self.runtime.counters(DeviceId(0));
        if self.device.memory_reserved() != 0 || counters.held_bytes != 0 {
            return Err(format!("the device has not everything back: {counters:?}"));
        }
        Ok(())
    }
}

/// Sets signals as they come, some at once and some after later ones, until nobody sends any more.
fn set_in_any_order(signals: &Receiver<Signal>, mut random: Random) {
    let mut waiting: Vec<Signal> = Vec::new();
    loop {
        // With some in hand, none may wait for a signal that never comes.
        let next = if waiting.is_empty() { signals.recv().ok() } else { signals.try_recv().ok() };
        if next.is_none() && waiting.is_empty() {
            return;
        }
        let has_more = next.is_some();
        waiting.extend(next);
        if has_more && random.below(3) > 0 && waiting.len() < 16 {
            continue;
        }
        let pick = random.index(waiting.len());
        if let Err(error) = waiting.swap_remove(pick).set() {
            eprintln!("error: a signal could not be set: {error}");
        }
    }
}
