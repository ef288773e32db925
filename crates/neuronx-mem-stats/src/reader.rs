//! The reading end: lock-free, from any thread, at any time. Changes nothing; resets are the
//! writer's.

use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::cells::Cells;
use crate::keys::Tracked;
use crate::{Counters, MemoryStats};

/// Reads one device's statistics; cheap to clone.
///
/// A read shows completed work only (memory profiling guide): synchronise the device first.
#[derive(Clone, Debug)]
pub struct StatsReader {
    cells: Arc<CachePadded<Cells>>,
    max_split_bytes: Option<u64>,
}

impl StatsReader {
    pub(crate) fn new(cells: Arc<CachePadded<Cells>>, max_split_bytes: Option<u64>) -> Self {
        Self { cells, max_split_bytes }
    }

    /// Block bytes of live blocks. One atomic load.
    #[must_use]
    #[inline]
    pub fn memory_allocated(&self) -> u64 {
        self.cells.gauge(Tracked::AllocatedBytes).published()
    }

    /// Most of them at once since the last reset of peaks. One atomic load.
    #[must_use]
    pub fn max_memory_allocated(&self) -> u64 {
        self.cells.gauge(Tracked::AllocatedBytes).peak()
    }

    /// Bytes of the segments held. One atomic load.
    #[must_use]
    #[inline]
    pub fn memory_reserved(&self) -> u64 {
        self.cells.gauge(Tracked::ReservedBytes).published()
    }

    /// Most of them at once since the last reset of peaks. One atomic load.
    #[must_use]
    pub fn max_memory_reserved(&self) -> u64 {
        self.cells.gauge(Tracked::ReservedBytes).peak()
    }

    /// Bytes that the owners of live blocks asked for. One atomic load.
    #[must_use]
    #[inline]
    pub fn memory_active(&self) -> u64 {
        self.cells.gauge(Tracked::ActiveBytes).published()
    }

    /// All values as they were at one moment: `reserved >= allocated >= active` holds in it.
    ///
    /// Takes no lock; reads again when a writer came in between. About 120 loads.
    #[must_use]
    pub fn read(&self) -> MemoryStats {
        let cells = &**self.cells;
        let (families, oversize, counters, n_pending) = cells.read(|| {
            let families = Tracked::ALL.map(|tracked| cells.gauge(tracked).values());
            let oversize = [cells.oversize_blocks.values(), cells.oversize_segments.values()];
            // Each block that came in was a request, each that went out the free of a tensor.
            let [blocks, ..] = cells.gauge(Tracked::Blocks).values();
            let counters = Counters {
                alloc_retries: cells.alloc_retries.get(),
                ooms: cells.ooms.get(),
                tensor_frees: blocks.freed,
                allocation_requests: blocks.allocated.wrapping_add(cells.requests_without_block.get()),
                device_synchronizations: cells.device_synchronizations.get(),
                device_allocations: cells.device_allocations.get(),
                device_frees: cells.device_frees.get(),
            };
            (families, oversize, counters, cells.pending.get())
        });
        MemoryStats::from_parts(families, oversize, counters, n_pending == 0, self.max_split_bytes)
    }
}
