//! Rows for the metric tables of `neuronx-mem-stats`, from what only the device knows. Writes no
//! file and serves nothing.

use neuronx_mem_pool::{BlockState, BlockView, SegmentView};
use neuronx_mem_stats::{OomRow, SegmentRow, StreamRow};
use neuronx_mem_stream::StreamId;

use super::{Device, stats_pool};
use crate::OutOfMemory;

impl Device {
    /// One row for each segment, in order of address. Takes the lock; O(blocks).
    #[must_use]
    pub fn segment_rows(&self) -> Vec<SegmentRow> {
        self.inspect(|pool| {
            let row = |segment: SegmentView| {
                let (address, segment_bytes) = (segment.address, segment.bytes);
                let pool_name = stats_pool(segment.kind);
                let mut row = SegmentRow { address, segment_bytes, pool: pool_name, ..Default::default() };
                pool.blocks(&segment).for_each(|block| add(&mut row, &block));
                row
            };
            pool.segments().map(row).collect()
        })
    }

    /// One row for each stream, in order of number. Takes the lock; O(streams).
    #[must_use]
    pub fn stream_rows(&self) -> Vec<StreamRow> {
        let state = self.shared.state.lock();
        let row = |number| {
            let stream = StreamId(number);
            let (pending_blocks, pending_bytes) = state.queue.pending_on(stream).unwrap_or_default();
            let (submitted, completed) = state.queue.cursors(stream).map_or((0, 0), |(s, c)| (s.0, c.0));
            StreamRow {
                stream: u64::from(number),
                pending_blocks: pending_blocks as u64,
                pending_bytes,
                submitted,
                completed,
            }
        };
        (0..state.queue.n_streams()).map(row).collect()
    }
}

fn add(row: &mut SegmentRow, block: &BlockView) {
    if block.state == BlockState::Free {
        row.cached_free_bytes += block.extent_bytes;
        row.largest_free_bytes = row.largest_free_bytes.max(block.extent_bytes);
        return;
    }
    row.n_blocks += 1;
    row.allocated_bytes += block.block_bytes;
    row.active_bytes += block.requested_bytes;
    if block.state == BlockState::PendingFree {
        row.pending_bytes += block.block_bytes;
    }
}

impl OutOfMemory {
    /// The error as a row of the table `oom`.
    #[must_use]
    pub fn metric_row(&self) -> OomRow {
        OomRow {
            requested_bytes: self.requested_bytes,
            rounded_bytes: self.rounded_bytes,
            segment_bytes: self.segment_bytes,
            total_bytes: self.effective_total_bytes(),
            reserved_bytes: self.reserved_bytes,
            allocated_bytes: self.allocated_bytes,
            active_bytes: self.active_bytes,
            cached_free_bytes: self.cached_free_bytes,
            largest_free_bytes: self.largest_free_bytes,
            pending_bytes: self.pending.iter().map(|(_, bytes)| bytes).sum(),
            used_by_others_bytes: self.used_by_others_bytes,
            n_steps: self.steps.len() as u64,
            gained_bytes: self.steps.iter().map(|step| step.gained_bytes).sum(),
            config_hash: self.config_hash,
        }
    }
}
