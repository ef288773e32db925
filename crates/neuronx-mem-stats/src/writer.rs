//! The one writer of a device's statistics. Whoever holds the device's lock owns it; each method
//! is one consistent step for readers and costs a few stores.

use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::cells::Cells;
use crate::keys::Tracked;
use crate::{StatsPool, StatsReader};

/// Makes the statistics of one device, all zero.
///
/// `max_split_bytes` is `kMaxSplitSizeBytes`, `None` when unlimited: blocks and segments above
/// it count as oversize.
#[must_use]
pub fn device_stats(max_split_bytes: Option<u64>) -> (StatsWriter, StatsReader) {
    let cells = Arc::new(CachePadded::new(Cells::default()));
    let limit = max_split_bytes.unwrap_or(u64::MAX);
    (
        StatsWriter { cells: Arc::clone(&cells), oversize_above: limit },
        StatsReader::new(cells, max_split_bytes),
    )
}

/// A block that was handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllocationEvent {
    /// Its pool.
    pub pool: StatsPool,
    /// Bytes that count as allocated.
    pub block_bytes: u64,
    /// Bytes asked for.
    pub requested_bytes: u64,
    /// Change of the number of inactive split blocks.
    pub split_blocks: i64,
    /// Change of their bytes.
    pub split_bytes: i64,
}

/// A block whose deallocation has run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreeEvent {
    /// Its pool.
    pub pool: StatsPool,
    /// Bytes that counted as allocated.
    pub block_bytes: u64,
    /// Bytes asked for.
    pub requested_bytes: u64,
    /// Change of the number of inactive split blocks.
    pub split_blocks: i64,
    /// Change of their bytes.
    pub split_bytes: i64,
}

/// The writing end of a device's statistics: one a device, not `Clone`.
#[derive(Debug)]
pub struct StatsWriter {
    cells: Arc<CachePadded<Cells>>,
    oversize_above: u64,
}

impl StatsWriter {
    /// Counts a request and the block that serves it.
    #[inline(always)]
    pub fn block_allocated(&mut self, event: &AllocationEvent) {
        let cells = &**self.cells;
        let pool = event.pool as usize;
        let step = cells.begin();
        cells.gauge(Tracked::Blocks).increase(pool, 1);
        cells.gauge(Tracked::AllocatedBytes).increase_published(pool, event.block_bytes);
        cells.gauge(Tracked::ActiveBytes).increase_published(pool, event.requested_bytes);
        cells.gauge(Tracked::SplitBlocks).change(pool, event.split_blocks);
        cells.gauge(Tracked::SplitBytes).change(pool, event.split_bytes);
        if event.block_bytes > self.oversize_above {
            cells.oversize_blocks.increase(1);
        }
        cells.end(step);
    }

    /// Counts a request that was served without a block: one for no bytes, or one that failed.
    pub fn request_without_block(&mut self) {
        let cells = &**self.cells;
        cells.write(|| {
            cells.requests_without_block.add(1);
        });
    }

    /// Counts a deallocation that has run.
    #[inline(always)]
    pub fn block_freed(&mut self, event: &FreeEvent) {
        let cells = &**self.cells;
        let pool = event.pool as usize;
        let step = cells.begin();
        cells.gauge(Tracked::Blocks).decrease(pool, 1);
        cells.gauge(Tracked::AllocatedBytes).decrease_published(pool, event.block_bytes);
        cells.gauge(Tracked::ActiveBytes).decrease_published(pool, event.requested_bytes);
        cells.gauge(Tracked::SplitBlocks).change(pool, event.split_blocks);
        cells.gauge(Tracked::SplitBytes).change(pool, event.split_bytes);
        if event.block_bytes > self.oversize_above {
            cells.oversize_blocks.decrease(1);
        }
        cells.end(step);
    }

    /// Counts a segment taken from the runtime.
    pub fn segment_allocated(&mut self, pool: StatsPool, bytes: u64) {
        let cells = &**self.cells;
        cells.write(|| {
            cells.device_allocations.add(1);
            cells.gauge(Tracked::Segments).increase(pool as usize, 1);
            cells.gauge(Tracked::ReservedBytes).increase_published(pool as usize, bytes);
            if bytes > self.oversize_above {
                cells.oversize_segments.increase(1);
            }
        });
    }

    /// Counts a segment that has left the pool for the runtime.
    pub fn segment_freed(&mut self, pool: StatsPool, bytes: u64) {
        let cells = &**self.cells;
        cells.write(|| {
            cells.device_frees.add(1);
            cells.gauge(Tracked::Segments).decrease(pool as usize, 1);
            cells.gauge(Tracked::ReservedBytes).decrease_published(pool as usize, bytes);
            if bytes > self.oversize_above {
                cells.oversize_segments.decrease(1);
            }
        });
    }

    /// Counts a retry during recovery.
    pub fn retried(&mut self) {
        let cells = &**self.cells;
        cells.write(|| {
            cells.alloc_retries.add(1);
        });
    }

    /// Counts an out-of-memory error that was returned.
    pub fn out_of_memory(&mut self) {
        let cells = &**self.cells;
        cells.write(|| {
            cells.ooms.add(1);
        });
    }

    /// Counts a wait for all streams of the device.
    pub fn synchronized(&mut self) {
        let cells = &**self.cells;
        cells.write(|| {
            cells.device_synchronizations.add(1);
        });
    }

    /// Says how many deallocations are queued: readings are settled while it is 0.
    pub fn set_pending(&mut self, n_pending: u64) {
        let cells = &**self.cells;
        if cells.pending.get() != n_pending {
            cells.write(|| cells.pending.set(n_pending));
        }
    }

    /// Sets every peak to its current value.
    pub fn reset_peak(&mut self) {
        let cells = &**self.cells;
        cells.write(|| {
            Tracked::ALL.iter().for_each(|tracked| cells.gauge(*tracked).reset_peak());
            cells.oversize_blocks.reset_peak();
            cells.oversize_segments.reset_peak();
        });
    }

    /// Zeroes every `allocated` and `freed`, and the counters of requests, frees, retries and
    /// out-of-memory errors. Current values and peaks stay.
    pub fn reset_accumulated(&mut self) {
        let cells = &**self.cells;
        cells.write(|| {
            Tracked::ALL.iter().for_each(|tracked| cells.gauge(*tracked).reset_accumulated());
            cells.oversize_blocks.reset_accumulated();
            cells.oversize_segments.reset_accumulated();
            for counter in [&cells.requests_without_block, &cells.alloc_retries, &cells.ooms] {
                counter.set(0);
            }
        });
    }
}
