//! Everything one device publishes, under one sequence lock. Knows how to be read and written
//! consistently, not what is counted when.

use crate::counter::{Cell, Gauge, PoolGauge};
use crate::keys::Tracked;
use crate::sequence::{Sequence, Step};

/// The published counters of one device.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    sequence: Sequence,
    gauges: [PoolGauge; Tracked::ALL.len()],
    /// Requests for no bytes, or that failed. Those that got a block are counted as blocks.
    pub(crate) requests_without_block: Cell,
    /// Deallocations that are queued and have not run.
    pub(crate) pending: Cell,
    pub(crate) oversize_blocks: Gauge,
    pub(crate) oversize_segments: Gauge,
    pub(crate) alloc_retries: Cell,
    pub(crate) ooms: Cell,
    pub(crate) device_synchronizations: Cell,
    pub(crate) device_allocations: Cell,
    pub(crate) device_frees: Cell,
}

impl Cells {
    #[inline]
    pub(crate) fn gauge(&self, tracked: Tracked) -> &PoolGauge {
        &self.gauges[tracked as usize]
    }

    /// Runs the writer's stores as one step for readers. Only one thread may write at a time.
    #[inline(always)]
    pub(crate) fn write(&self, stores: impl FnOnce()) {
        self.sequence.write(stores);
    }

    /// Opens a step of the writer, for the hot paths: a closure may end up out of line.
    #[inline(always)]
    pub(crate) fn begin(&self) -> Step {
        self.sequence.begin()
    }

    /// Closes a step of the writer.
    #[inline(always)]
    pub(crate) fn end(&self, step: Step) {
        self.sequence.end(step);
    }

    /// Reads until no writer came in between.
    pub(crate) fn read<T>(&self, loads: impl Fn() -> T) -> T {
        self.sequence.read(loads)
    }
}
