//! The pool as the fragmentation crate wants to see it. Copies under the lock, analyses outside.

use neuronx_mem_fragmentation::{Analysis, BlockLayout, DeviceLayout, Pool, SegmentLayout};
use neuronx_mem_pool::{BlockState, BlockView, PoolKind, SegmentPool, SegmentView};

use super::Device;

impl Device {
    /// How fragmented the device's memory is (memory profiling guide, step 3). Takes the lock to
    /// copy the blocks; O(blocks).
    #[must_use]
    pub fn segment_pool_analysis(&self) -> Analysis {
        Analysis::of(&self.layout())
    }

    /// The analysis as a text report.
    #[must_use]
    pub fn segment_pool_analysis_summary(&self) -> String {
        self.segment_pool_analysis().summary(None)
    }

    /// Segments and blocks at this moment. Where the runtime does not say how much memory there
    /// is, the segments held count as all of it.
    #[must_use]
    pub fn layout(&self) -> DeviceLayout {
        let segments = self.inspect(copy_segments);
        let total = self.memory_info().map_or_else(|_| self.memory_reserved(), |info| info.limit_bytes);
        let total = self.memory_cap_bytes().unwrap_or(total);
        let range = self.shared.runtime.address_range(self.shared.id);
        let mut layout = DeviceLayout::new(self.shared.id.0, total, range, segments);
        layout.pool_boundary_bytes = self.shared.config.pool_boundary_bytes();
        layout
    }
}

fn copy_segments(pool: &SegmentPool) -> Vec<SegmentLayout> {
    let copy = |segment: SegmentView| {
        let blocks = pool.blocks(&segment).map(|block| block_layout(&block));
        SegmentLayout::new(segment.address, kind(segment.kind), blocks)
    };
    pool.segments().map(copy).collect()
}

fn block_layout(block: &BlockView) -> BlockLayout {
    let (extent, requested) = (block.extent_bytes, block.requested_bytes);
    match block.state {
        BlockState::Free => BlockLayout::free(extent),
        BlockState::Live => BlockLayout::live(extent, requested).with_allocated_bytes(block.block_bytes),
        BlockState::PendingFree => {
            BlockLayout::pending(extent, requested).with_allocated_bytes(block.block_bytes)
        }
    }
}

fn kind(kind: PoolKind) -> Pool {
    match kind {
        PoolKind::Small => Pool::Small,
        PoolKind::Large => Pool::Large,
    }
}
