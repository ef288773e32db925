//! What an analysis looks at: the segments of one device and the blocks in them. Plain data; a
//! layout may be wrong, and the sums over it then are, but nothing breaks.

use std::ops::Range;

use neuronx_mem_snapshot::StackId;

/// The pool that a segment serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Pool {
    /// Requests below the pool boundary.
    Small,
    /// All others.
    Large,
}

impl Pool {
    /// Both pools, small first.
    pub const ALL: [Self; 2] = [Self::Small, Self::Large];

    /// `"small"` or `"large"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Large => "large",
        }
    }
}

/// What a block is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum BlockUse {
    /// Cached.
    Free,
    /// Held by a tensor.
    Live,
    /// Freed by its owner, deallocation still queued. Counts as live.
    PendingFree,
}

/// One device's memory at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceLayout {
    /// Ordinal of the device.
    pub device: u32,
    /// Device memory, capped, bytes.
    pub total_bytes: u64,
    /// Addresses that segments can come from; `None` when the runtime cannot tell.
    pub address_range: Option<Range<u64>>,
    /// Requests below this go to the small pool, bytes.
    pub pool_boundary_bytes: u64,
    /// Segments in order of address.
    pub segments: Vec<SegmentLayout>,
}

/// One segment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentLayout {
    /// First address.
    pub address: u64,
    /// The pool it serves.
    pub pool: Pool,
    /// Its blocks in order of address, without gaps.
    pub blocks: Vec<BlockLayout>,
}

/// One block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockLayout {
    /// Bytes it occupies.
    pub extent_bytes: u64,
    /// Bytes that count as allocated; 0 when free.
    pub allocated_bytes: u64,
    /// Bytes its owner asked for; 0 when free.
    pub requested_bytes: u64,
    /// What it is doing.
    pub state: BlockUse,
    /// Where it was allocated, in the table of the snapshot that it comes from.
    pub stack: Option<StackId>,
}

impl DeviceLayout {
    /// Puts a layout together; segments are sorted by address. The pool boundary is the default,
    /// 1 MiB.
    #[must_use]
    pub fn new(
        device: u32,
        total_bytes: u64,
        address_range: Option<Range<u64>>,
        mut segments: Vec<SegmentLayout>,
    ) -> Self {
        segments.sort_by_key(|segment| segment.address);
        Self { device, total_bytes, address_range, pool_boundary_bytes: 1 << 20, segments }
    }
}

impl SegmentLayout {
    /// Puts a segment together from blocks in order of address.
    #[must_use]
    pub fn new(address: u64, pool: Pool, blocks: impl IntoIterator<Item = BlockLayout>) -> Self {
        Self { address, pool, blocks: blocks.into_iter().collect() }
    }

    /// Bytes of the segment: the sum of its blocks.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.blocks.iter().fold(0, |sum, block| sum.saturating_add(block.extent_bytes))
    }

    /// Each block with its address.
    pub(crate) fn placed(&self) -> impl Iterator<Item = (u64, &BlockLayout)> {
        self.blocks.iter().scan(self.address, |next, block| {
            let address = *next;
            *next = next.saturating_add(block.extent_bytes);
            Some((address, block))
        })
    }
}

impl BlockLayout {
    /// A free block.
    #[must_use]
    pub const fn free(extent_bytes: u64) -> Self {
        Self { extent_bytes, allocated_bytes: 0, requested_bytes: 0, state: BlockUse::Free, stack: None }
    }

    /// A live block without padding.
    #[must_use]
    pub const fn live(extent_bytes: u64, requested_bytes: u64) -> Self {
        let state = BlockUse::Live;
        Self { extent_bytes, allocated_bytes: extent_bytes, requested_bytes, state, stack: None }
    }

    /// A block whose deallocation is queued.
    #[must_use]
    pub const fn pending(extent_bytes: u64, requested_bytes: u64) -> Self {
        Self { state: BlockUse::PendingFree, ..Self::live(extent_bytes, requested_bytes) }
    }

    /// Sets the bytes that count as allocated, where alignment makes the block larger.
    #[must_use]
    pub const fn with_allocated_bytes(mut self, bytes: u64) -> Self {
        self.allocated_bytes = bytes;
        self
    }

    /// Whether it is free.
    #[must_use]
    pub const fn is_free(&self) -> bool {
        matches!(self.state, BlockUse::Free)
    }
}
