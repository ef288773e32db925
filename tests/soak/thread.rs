//! One thread's program: random operations from its own numbers, each checked by the oracle.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;

use neuronx_mem::streams::Ticket;
use neuronx_mem::streams::worker::Signal;
use neuronx_mem::{AllocError, Block, Device, Stream};

use crate::check;
use crate::epoch::{Driver, N_STREAMS};
use crate::oracle::Oracle;
use crate::random::Random;

/// Blocks a thread holds at most.
const MOST_BLOCKS: usize = 64;

/// A block and the streams that use it, the first its own.
pub(crate) type Used = (Block, Vec<usize>);

/// What all threads share.
pub(crate) struct Shared<'a> {
    pub(crate) device: &'a Device,
    pub(crate) streams: &'a [Stream],
    pub(crate) driver: Driver,
    pub(crate) oracle: &'a Arc<Oracle>,
    /// Blocks on their way from one thread to another.
    pub(crate) passed_on: &'a Mutex<Vec<Used>>,
}

/// One thread.
pub(crate) struct Thread<'a> {
    pub(crate) shared: &'a Shared<'a>,
    pub(crate) random: Random,
    /// Signals that streams wait for; somebody else sets them in any order.
    pub(crate) stalls: SyncSender<Signal>,
    pub(crate) blocks: Vec<Used>,
    pub(crate) n_ooms: u64,
}

impl Thread<'_> {
    /// Runs operations, then frees what is left.
    pub(crate) fn run(mut self, n_operations: u64) -> Result<u64, String> {
        for operation in 0..n_operations {
            self.step(operation).map_err(|message| format!("operation {operation}: {message}"))?;
        }
        while let Some(used) = self.blocks.pop() {
            self.free(used);
        }
        Ok(self.n_ooms)
    }

    fn step(&mut self, operation: u64) -> Result<(), String> {
        let stream = self.random.index(N_STREAMS);
        match self.random.below(1000) {
            0..340 => self.allocate(stream),
            340..640 => self.free_one(),
            640..700 => self.record(stream),
            700..820 => self.submit(stream),
            820..930 => self.complete(stream),
            930..960 => self.pass_on(),
            960..980 => check::reading(self.shared.device),
            980..990 => self.stall(stream),
            990..995 => self.shared.streams[stream].try_synchronize().map_err(text),
            995..997 => self.shared.device.try_synchronize().map_err(text),
            997 => self.shared.device.empty_cache().map(|_| ()).map_err(text),
            _ if operation.is_multiple_of(16) => check::pool(self.shared.device),
            _ => Ok(()),
        }
    }

    fn allocate(&mut self, stream: usize) -> Result<(), String> {
        if self.blocks.len() >= MOST_BLOCKS {
            return self.free_one();
        }
        let bytes = match self.random.below(10) {
            0 => 0,
            1..7 => self.random.below(64 << 10),
            7..9 => self.random.below(4 << 20),
            _ => self.random.below(40 << 20),
        };
        match self.shared.device.allocate(bytes, &self.shared.streams[stream]) {
            Ok(block) if bytes == 0 => drop(block),
            Ok(block) => {
                let (start, bytes) = (block.address(), block.block_bytes());
                self.shared.oracle.take(start, bytes, stream, |stream| self.known_complete(stream))?;
                self.blocks.push((block, vec![stream]));
            }
            // The device is small on purpose. What this thread holds may be what is in the way.
            Err(AllocError::OutOfMemory(error)) => {
                if error.rounded_bytes < bytes || error.report().is_empty() {
                    return Err(format!("an error without its numbers: {error}"));
                }
                self.n_ooms += 1;
                for _ in 0..self.blocks.len() / 2 {
                    self.free_one()?;
                }
            }
            Err(other) => return Err(other.to_string()),
        }
        Ok(())
    }

    /// Work of a stream that has completed, as far as it can be told.
    fn known_complete(&self, stream: usize) -> u64 {
        match self.shared.driver {
            Driver::Caller => self.shared.device.stream_rows()[stream].completed,
            Driver::Worker => self.shared.oracle.completed[stream].load(Ordering::SeqCst),
        }
    }

    fn free_one(&mut self) -> Result<(), String> {
        if !self.blocks.is_empty() {
            let pick = self.random.index(self.blocks.len());
            let used = self.blocks.swap_remove(pick);
            self.free(used);
        }
        Ok(())
    }

    fn free(&self, (block, streams): Used) {
        self.shared.oracle.give(block.address(), &streams);
        drop(block);
    }

    fn record(&mut self, stream: usize) -> Result<(), String> {
        let n_blocks = self.blocks.len();
        let pick = self.random.index(n_blocks);
        let Some((block, streams)) = self.blocks.get_mut(pick) else { return Ok(()) };
        block.record_stream(&self.shared.streams[stream]).map_err(text)?;
        if !streams.contains(&stream) {
            streams.push(stream);
        }
        Ok(())
    }

    fn submit(&mut self, stream: usize) -> Result<(), String> {
        let oracle = self.shared.oracle;
        match self.shared.driver {
            Driver::Caller => {
                let Ticket(ticket) = self.shared.streams[stream].submit().map_err(text)?;
                oracle.submitted[stream].fetch_max(ticket, Ordering::SeqCst);
            }
            // The n-th work of a stream to run is its n-th: its number is counted where it runs.
            Driver::Worker => {
                let of_work = Arc::clone(oracle);
                let work = move || {
                    of_work.completed[stream].fetch_add(1, Ordering::SeqCst);
                };
                self.shared.streams[stream].run(work).map_err(text)?;
                oracle.submitted[stream].fetch_add(1, Ordering::SeqCst);
            }
        }
        Ok(())
    }

    /// Without a worker, completes work up to any that is outstanding.
    fn complete(&mut self, stream: usize) -> Result<(), String> {
        if self.shared.driver == Driver::Worker {
            return Ok(());
        }
        let oracle = self.shared.oracle;
        let submitted = oracle.submitted[stream].load(Ordering::SeqCst);
        let completed = oracle.completed[stream].load(Ordering::SeqCst);
        let ticket = completed + self.random.below(submitted.saturating_sub(completed) + 1);
        oracle.completed[stream].fetch_max(ticket, Ordering::SeqCst);
        self.shared.streams[stream].complete(Ticket(ticket)).map_err(text)
    }

    /// With a worker, holds a stream up until somebody sets the signal.
    fn stall(&mut self, stream: usize) -> Result<(), String> {
        if self.shared.driver == Driver::Caller {
            return Ok(());
        }
        let worker = self.shared.device.worker().map_err(text)?;
        let signal = worker.create_signal();
        signal.wait(&worker.stream(self.shared.streams[stream].id()).map_err(text)?).map_err(text)?;
        self.stalls.send(signal).map_err(text)
    }

    /// Puts a block where another thread finds it, and takes one that is there.
    fn pass_on(&mut self) -> Result<(), String> {
        let mut passed_on = self.shared.passed_on.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = passed_on.pop();
        passed_on.extend(self.blocks.pop());
        self.blocks.extend(taken);
        Ok(())
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
