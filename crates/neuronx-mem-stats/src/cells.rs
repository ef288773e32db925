//! Everything one device publishes, and the sequence number that lets readers see it as it was
//! at one moment. Knows how to be read and written consistently, not what is counted when.

use std::sync::atomic::{AtomicU64, Ordering, fence};

use crate::counter::{Cell, Gauge, PoolGauge};
use crate::keys::Tracked;

/// The published counters of one device.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    /// Odd while the writer is between two consistent states.
    sequence: AtomicU64,
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

/// A step of the writer that has begun, with the even number it began at.
#[must_use]
pub(crate) struct Step(u64);

impl Cells {
    #[inline]
    pub(crate) fn gauge(&self, tracked: Tracked) -> &PoolGauge {
        &self.gauges[tracked as usize]
    }

    /// Runs the writer's stores as one step for readers. Only one thread may write at a time.
    #[inline(always)]
    pub(crate) fn write(&self, stores: impl FnOnce()) {
        let step = self.begin();
        stores();
        self.end(step);
    }

    /// Opens a step of the writer, for the hot paths: a closure may end up out of line.
    #[inline(always)]
    pub(crate) fn begin(&self) -> Step {
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(sequence.wrapping_add(1), Ordering::Relaxed);
        // The odd number must be visible before any of the stores.
        fence(Ordering::Release);
        Step(sequence)
    }

    /// Closes a step of the writer.
    #[inline(always)]
    pub(crate) fn end(&self, step: Step) {
        // All of the stores must be visible before the even number.
        self.sequence.store(step.0.wrapping_add(2), Ordering::Release);
    }

    /// Reads until no writer came in between.
    pub(crate) fn read<T>(&self, loads: impl Fn() -> T) -> T {
        let backoff = crossbeam_utils::Backoff::new();
        loop {
            let before = self.sequence.load(Ordering::Acquire);
            if before.is_multiple_of(2) {
                let values = loads();
                // The loads must be done before the sequence is looked at again.
                fence(Ordering::Acquire);
                if self.sequence.load(Ordering::Relaxed) == before {
                    return values;
                }
            }
            backoff.snooze();
        }
    }
}
