//! From a snapshot to a layout: what a file tells and what it leaves open. Reads the model only,
//! so files of PyTorch and of this allocator are the same here.

use std::ops::Range;

use neuronx_mem_snapshot::{Block, BlockState, Segment, Snapshot};

use crate::{BlockLayout, BlockUse, DeviceLayout, Pool, SegmentLayout};

/// What a snapshot file does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotOptions {
    /// Device memory, bytes. Unset, what the segments span: nothing beyond them is then free.
    pub total_bytes: Option<u64>,
    /// Addresses that segments can come from.
    pub address_range: Option<Range<u64>>,
    /// Requests below this go to the small pool, bytes; 1 MiB unless set.
    pub pool_boundary_bytes: u64,
}

impl Default for SnapshotOptions {
    fn default() -> Self {
        Self { total_bytes: None, address_range: None, pool_boundary_bytes: 1 << 20 }
    }
}

impl DeviceLayout {
    /// Takes one device's segments from a snapshot. O(blocks).
    ///
    /// A file has no alignment padding: a block counts as allocated with all it occupies. Stacks
    /// are numbers into the snapshot's own table. Segments without an address or blocks without
    /// a size count as empty.
    #[must_use]
    pub fn from_snapshot(snapshot: &Snapshot, device: u32, options: &SnapshotOptions) -> Self {
        // Old files have no device key; all their segments are on device 0.
        let is_here = |segment: &&Segment| segment.device().unwrap_or(0) == i64::from(device);
        let segments: Vec<SegmentLayout> = snapshot.segments.iter().filter(is_here).map(segment).collect();
        let mut layout = Self::new(device, 0, options.address_range.clone(), segments);
        layout.pool_boundary_bytes = options.pool_boundary_bytes;
        layout.total_bytes = options.total_bytes.unwrap_or_else(|| span(&layout));
        layout
    }
}

fn segment(segment: &Segment) -> SegmentLayout {
    let pool = if segment.is_small() { Pool::Small } else { Pool::Large };
    SegmentLayout::new(segment.address().unwrap_or(0), pool, segment.blocks().iter().map(block))
}

fn block(block: &Block) -> BlockLayout {
    let extent = block.size_bytes().unwrap_or(0);
    // Files written before requests were recorded leave them out.
    let requested = block.requested_bytes().unwrap_or(extent).min(extent);
    let layout = match block.state() {
        Some(BlockState::ActiveAllocated) => BlockLayout::live(extent, requested),
        Some(BlockState::ActivePendingFree) => BlockLayout::pending(extent, requested),
        _ => return BlockLayout::free(extent),
    };
    BlockLayout { stack: block.stack(), ..layout }
}

fn span(layout: &DeviceLayout) -> u64 {
    let ends = layout.segments.iter().map(|s| s.address.saturating_add(s.bytes()));
    let start = layout.segments.first().map_or(0, |s| s.address);
    ends.max().unwrap_or(0).saturating_sub(start)
}

impl BlockUse {
    /// The name in a snapshot.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Free => "inactive",
            Self::Live => "active_allocated",
            Self::PendingFree => "active_pending_free",
        }
    }
}
