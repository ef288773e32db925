//! One device: its pool, its queue and its statistics under one lock. The lock is never held
//! across a runtime call; a second one lets only one thread grow or shrink the pool at a time.

mod allocate;
mod analysis;
mod callbacks;
mod cap;
mod capture;
mod clock;
mod driver;
mod free;
mod metrics;
mod numbers;
mod readings;
mod recorder;
mod recovery;
mod release;
mod scalars;
mod snapshot;
mod watch;

use std::fmt;
use std::sync::Arc;

use crossbeam_utils::CachePadded;
use neuronx_mem_pool::{BlockId, PlacementPolicy, PoolKind, ReleasedSegment, SegmentPool};
use neuronx_mem_runtime::DeviceId;
use neuronx_mem_stats::{StatsPool, StatsReader, StatsWriter, device_stats};
#[cfg(feature = "worker")]
use neuronx_mem_stream::worker::Priority;
use neuronx_mem_stream::{FreeQueue, StreamId, Ticket};
use parking_lot::Mutex;

pub use callbacks::CallbackId;
use callbacks::Callbacks;
use cap::Cap;
use capture::Capture;
pub(crate) use clock::{Clock, wall_clock};
use driver::Driver;
use free::Owner;
use recorder::Recorder;
pub use release::Released;
use scalars::Scalars;
pub use scalars::{ScalarKey, ScalarStats};
use watch::Watch;

use crate::builder::Settings;
use crate::{AllocError, AllocatorConfig, DeviceRuntime, Stream};

/// One device of an [`Allocator`](crate::Allocator); cheap to clone, usable from any thread.
#[derive(Clone)]
pub struct Device {
    shared: Arc<Shared>,
}

/// A block by handle, for owners that free by hand: C, Python, replay.
///
/// Copyable and checked: freeing it twice is an error, never another block's free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle {
    /// Names the block to the device.
    pub id: BlockId,
    /// First device address.
    pub address: u64,
    /// Bytes that count as allocated.
    pub block_bytes: u64,
    /// Bytes the block occupies: `block_bytes` and at most 63 of alignment.
    pub extent_bytes: u64,
}

struct Shared {
    id: DeviceId,
    runtime: Arc<dyn DeviceRuntime>,
    policy: PlacementPolicy,
    config: AllocatorConfig,
    settings: Settings,
    stats: StatsReader,
    capture: Capture,
    state: CachePadded<Mutex<State>>,
    /// Held while segments are taken from or given back to the runtime, always taken before
    /// `state`: otherwise a thread could run out of memory that another is just giving back.
    /// Let go during every wait and every release callback.
    growth: Mutex<()>,
    callbacks: Callbacks,
    cap: Cap,
    driver: Driver,
    scalars: Scalars,
    /// Segments out of the pool that the runtime would not take back.
    refused: Mutex<Vec<ReleasedSegment>>,
}

/// What the device's lock protects.
struct State {
    pool: SegmentPool,
    queue: FreeQueue<BlockId>,
    stats: StatsWriter,
    recorder: Recorder,
    watch: Watch,
}

impl Device {
    pub(crate) fn new(
        ordinal: u32,
        runtime: Arc<dyn DeviceRuntime>,
        config: &AllocatorConfig,
        settings: Settings,
        clock: Clock,
    ) -> Self {
        let max_split_bytes = Some(config.max_split_bytes()).filter(|bytes| *bytes != u64::MAX);
        let (writer, stats) = device_stats(max_split_bytes);
        let pool = SegmentPool::new(config);
        let policy = *pool.policy();
        let recorder = Recorder::new(clock);
        let watch = Watch::new(ordinal, &settings, &*runtime);
        let state = State { pool, queue: FreeQueue::new(), stats: writer, recorder, watch };
        let shared = Shared {
            id: DeviceId(ordinal),
            runtime,
            policy,
            config: *config,
            settings,
            stats,
            capture: watch::new_capture(&settings),
            state: CachePadded::new(Mutex::new(state)),
            growth: Mutex::new(()),
            callbacks: Callbacks::default(),
            driver: Driver::new(),
            scalars: Scalars::default(),
            refused: Mutex::default(),
            cap: Cap::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Its ordinal.
    #[must_use]
    pub fn id(&self) -> DeviceId {
        self.shared.id
    }

    /// The stream that every device has.
    #[must_use]
    pub fn default_stream(&self) -> Stream {
        Stream::new(self.clone(), StreamId::DEFAULT)
    }

    /// Makes another stream; the default one when streams are switched off.
    ///
    /// # Errors
    ///
    /// [`AllocError::Stream`] after 2^32 streams.
    pub fn new_stream(&self) -> Result<Stream, AllocError> {
        if !self.shared.settings.are_streams_enabled {
            return Ok(self.default_stream());
        }
        #[cfg(feature = "worker")]
        if self.shared.driver.is_driving() {
            return self.new_stream_with_priority(Priority::DEFAULT);
        }
        let id = self.shared.state.lock().queue.add_stream()?;
        Ok(Stream::new(self.clone(), id))
    }

    /// Waits for all work of the device, after which every queued deallocation has run. Read
    /// statistics after it, not before.
    ///
    /// Without a worker nothing is waited for: the caller has waited, and says so by this call.
    /// Work that failed on a worker is logged here; [`try_synchronize`](Self::try_synchronize)
    /// returns it.
    pub fn synchronize(&self) {
        if let Err(error) = self.try_synchronize() {
            tracing::error!(%error, "work on the device has failed");
        }
    }

    /// As [`synchronize`](Self::synchronize), and returns what failed.
    ///
    /// # Errors
    ///
    /// `AllocError::Worker` for work that panicked, or when called from such work.
    pub fn try_synchronize(&self) -> Result<(), AllocError> {
        let result = self.wait_for_work();
        self.shared.state.lock().stats.synchronized();
        result
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    pub(crate) fn submit(&self, stream: StreamId) -> Result<Ticket, AllocError> {
        if let Some(submitted) = self.shared.driver.submit(stream) {
            return submitted;
        }
        let mut state = self.shared.state.lock();
        let ticket = state.queue.submit(stream)?;
        if self.shared.settings.is_blocking {
            state.run_to(stream, ticket)?;
            state.watch.host_waited(stream, ticket);
        }
        drop(state);
        self.shared.settle_freed();
        Ok(ticket)
    }

    pub(crate) fn complete(&self, stream: StreamId, ticket: Ticket) -> Result<(), AllocError> {
        if self.shared.driver.is_driving() {
            return Err(AllocError::DrivenByWorker { stream });
        }
        let mut state = self.shared.state.lock();
        state.run_to(stream, ticket)?;
        state.watch.host_waited(stream, ticket);
        drop(state);
        self.shared.settle_freed();
        Ok(())
    }

    pub(crate) fn synchronize_stream(&self, stream: StreamId) -> Result<(), AllocError> {
        match self.shared.driver.wait_for_stream(stream) {
            Some(result) => result,
            None => {
                self.shared.state.lock().run_stream(stream);
                self.shared.settle_freed();
                Ok(())
            }
        }
    }

    /// Waits for all work without counting it as the caller's synchronisation.
    fn wait_for_work(&self) -> Result<(), AllocError> {
        match self.shared.driver.wait_for_device() {
            Some(result) => result,
            None => {
                self.shared.state.lock().run_all();
                self.shared.settle_freed();
                Ok(())
            }
        }
    }

    pub(crate) fn is_idle(&self, stream: StreamId) -> bool {
        self.shared.state.lock().queue.is_idle(stream).unwrap_or(true)
    }

    pub(crate) fn pending_on(&self, stream: StreamId) -> (usize, u64) {
        self.shared.state.lock().queue.pending_on(stream).unwrap_or_default()
    }
}

/// Short on purpose: blocks and streams print their device.
impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("id", &self.id().0)
            .field("reserved_bytes", &self.memory_reserved())
            .field("allocated_bytes", &self.memory_allocated())
            .finish_non_exhaustive()
    }
}

/// The statistics' name for a pool.
#[inline]
fn stats_pool(kind: PoolKind) -> StatsPool {
    match kind {
        PoolKind::Small => StatsPool::Small,
        PoolKind::Large => StatsPool::Large,
    }
}
