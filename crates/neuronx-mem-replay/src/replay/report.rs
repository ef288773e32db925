//! The figures of one replay. All of them are the allocator's own statistics; nothing is
//! reckoned here but which event made the peak.

use std::time::Duration;

use neuronx_mem::stats::{Family, Scope};
use neuronx_mem::{AllocatorConfig, Device, OutOfMemory};

use crate::{Event, EventSource, Skipped};

/// What a trace came to under one configuration. Sizes in bytes, counts of whole things.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReplayReport {
    /// Name of the input.
    pub input: String,
    /// Its header `name`.
    pub trace_name: Option<String>,
    /// Events that had an effect.
    pub events: u64,
    /// The allocator's configuration.
    pub config: AllocatorConfig,
    /// Its hash.
    pub config_hash: u64,
    /// Device memory.
    pub device_total_bytes: u64,
    /// Most bytes that tensors asked for at once; the same as `active_peak_bytes`.
    pub requested_peak_bytes: u64,
    /// Most block bytes held by tensors at once.
    pub allocated_peak_bytes: u64,
    /// Most segment bytes held at once.
    pub reserved_peak_bytes: u64,
    /// Most bytes that tensors asked for at once.
    pub active_peak_bytes: u64,
    /// Block bytes held by tensors at the end.
    pub allocated_bytes: u64,
    /// Segment bytes held at the end.
    pub reserved_bytes: u64,
    /// Bytes that tensors asked for at the end.
    pub active_bytes: u64,
    /// Part of `allocated_bytes` whose deallocation is queued behind outstanding work.
    pub pending_bytes: u64,
    /// Segments taken from the runtime.
    pub segments_allocated: u64,
    /// Segments given back to it.
    pub segments_released: u64,
    /// Out-of-memory errors: 0 or 1, since the first ends the replay.
    pub num_ooms: u64,
    /// Retries during out-of-memory recovery.
    pub num_alloc_retries: u64,
    /// Segment requests that the runtime served.
    pub num_device_alloc: u64,
    /// The event at which allocated memory first reached its peak; `None` without an allocation.
    pub peak_event: Option<u64>,
    /// What ended the replay early.
    pub out_of_memory: Option<TraceOutOfMemory>,
    /// Lines that were left out, by the reader and by the replay.
    pub skipped: Skipped,
    /// The table of `memory_summary()` at the end.
    pub summary: String,
    /// Wall time, reading included, nanoseconds. The only figure that differs from run to run.
    pub elapsed_ns: u64,
}

/// Where a trace ran out of memory, and the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceOutOfMemory {
    /// Number of the event that could not be served, from 1.
    pub event: u64,
    /// Its line, from 1.
    pub line: u64,
    /// Why not.
    pub error: OutOfMemory,
}

/// What a replay counts on its way.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) events: u64,
    pub(super) skipped: Skipped,
    pub(super) out_of_memory: Option<TraceOutOfMemory>,
    peak_bytes: u64,
    peak_event: Option<u64>,
}

impl Tally {
    /// Counts an event that had an effect.
    #[inline]
    pub(super) fn done(&mut self, event: &Event, device: &Device) {
        self.events += 1;
        if !matches!(event, Event::Allocate { .. }) {
            return;
        }
        let peak_bytes = device.max_memory_allocated();
        if peak_bytes > self.peak_bytes {
            self.peak_bytes = peak_bytes;
            self.peak_event = Some(self.events);
        }
    }

    pub(super) fn report(
        self,
        source: &impl EventSource,
        device: &Device,
        elapsed: Duration,
    ) -> ReplayReport {
        let stats = device.memory_stats();
        let values = |family| stats.values(family, Scope::All);
        let allocated = values(Family::AllocatedBytes);
        let reserved = values(Family::ReservedBytes);
        let active = values(Family::ActiveBytes);
        let segments = values(Family::Segment);
        let counters = stats.counters();
        ReplayReport {
            input: source.name().to_owned(),
            trace_name: source.header("name").map(str::to_owned),
            events: self.events,
            config: *device.config(),
            config_hash: device.config().hash64(),
            device_total_bytes: device.memory_info().map_or(0, |info| info.limit_bytes),
            requested_peak_bytes: active.peak,
            allocated_peak_bytes: allocated.peak,
            reserved_peak_bytes: reserved.peak,
            active_peak_bytes: active.peak,
            allocated_bytes: allocated.current,
            reserved_bytes: reserved.current,
            active_bytes: active.current,
            pending_bytes: device.usage().pending_bytes,
            segments_allocated: segments.allocated,
            segments_released: segments.freed,
            num_ooms: counters.ooms,
            num_alloc_retries: counters.alloc_retries,
            num_device_alloc: counters.device_allocations,
            peak_event: self.peak_event,
            out_of_memory: self.out_of_memory,
            skipped: self.skipped.plus(source.skipped()),
            summary: device.memory_summary(),
            elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
        }
    }
}
