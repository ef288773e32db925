//! One segment with its blocks. Knows its twelve keys; refuses to keep its sums right by itself,
//! except in the constructor that computes them.

use super::core::Core;
use super::key::fixed_text;
use super::{Block, BlockState, Fields, Key, PoolId, Record, Schema, Slot, StackId, StackTable, StrId};

/// A segment (PyTorch snapshot schema §3). Every key may be absent in old files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    core: Core<7, 1>,
    blocks: Option<Vec<Block>>,
}

const DEVICE: usize = 0;
const ADDRESS: usize = 1;
const TOTAL_SIZE: usize = 2;
const ALLOCATED_SIZE: usize = 3;
const ACTIVE_SIZE: usize = 4;
const REQUESTED_SIZE: usize = 5;
const STREAM: usize = 6;
const SEGMENT_TYPE: usize = 0;

static SCHEMA: Schema = Schema::new(
    "segment",
    &[
        (Key::Device, Slot::Int(0)),
        (Key::Address, Slot::Int(1)),
        (Key::TotalSize, Slot::Int(2)),
        (Key::AllocatedSize, Slot::Int(3)),
        (Key::ActiveSize, Slot::Int(4)),
        (Key::RequestedSize, Slot::Int(5)),
        (Key::Stream, Slot::Int(6)),
        (Key::SegmentType, Slot::Text(0)),
        (Key::SegmentPoolId, Slot::Pool),
        (Key::IsExpandable, Slot::Flag),
        (Key::Frames, Slot::Stack),
        (Key::Blocks, Slot::Blocks),
    ],
);

impl Segment {
    /// A segment of the default pool and stream that consists of `blocks`; all sizes are computed
    /// from them. `is_small` says which of the two block pools it serves. Cost: O(blocks).
    ///
    /// ```
    /// use neuronx_mem_snapshot::{Block, BlockState, Segment};
    ///
    /// let blocks = vec![
    ///     Block::new(0x1000, 512, BlockState::ActiveAllocated).with_requested_bytes(300),
    ///     Block::new(0x1200, 1536, BlockState::Inactive),
    /// ];
    /// let segment = Segment::from_blocks(0, 0x1000, true, blocks);
    /// assert_eq!(segment.total_bytes(), Some(2048));
    /// assert_eq!(segment.allocated_bytes(), Some(512));
    /// assert_eq!(segment.requested_bytes(), Some(300));
    /// ```
    #[must_use]
    pub fn from_blocks(device: u32, address: u64, is_small: bool, blocks: Vec<Block>) -> Self {
        let sum = |chosen: &dyn Fn(&&Block) -> bool, bytes: &dyn Fn(&Block) -> Option<u64>| {
            let chosen = blocks.iter().filter(chosen).filter_map(bytes);
            chosen.fold(0_u64, u64::saturating_add)
        };
        let mut core = Core::default();
        core.set_bits(DEVICE, u64::from(device));
        core.set_bits(ADDRESS, address);
        core.set_bits(TOTAL_SIZE, sum(&|_| true, &Block::size_bytes));
        let allocated = |block: &&Block| block.state() == Some(BlockState::ActiveAllocated);
        core.set_bits(ALLOCATED_SIZE, sum(&allocated, &Block::size_bytes));
        core.set_bits(ACTIVE_SIZE, sum(&|block| block.is_active(), &Block::size_bytes));
        core.set_bits(REQUESTED_SIZE, sum(&|block| block.is_active(), &Block::requested_bytes));
        core.set_bits(STREAM, 0);
        core.set_text(SEGMENT_TYPE, Some(fixed_text(if is_small { 14 } else { 15 })));
        core.set_pool(Some(PoolId::DEFAULT));
        core.set_flag(Some(false));
        core.set_stack(Some(StackId::EMPTY));
        Self { core, blocks: Some(blocks) }
    }

    /// Sets the stream.
    #[must_use]
    pub fn with_stream(mut self, stream: u64) -> Self {
        self.core.set_bits(STREAM, stream);
        self
    }

    /// Sets the stack of the segment's allocation.
    #[must_use]
    pub fn with_stack(mut self, stack: StackId) -> Self {
        self.core.set_stack(Some(stack));
        self
    }

    /// Sets the private pool.
    #[must_use]
    pub fn with_pool(mut self, pool: PoolId) -> Self {
        self.core.set_pool(Some(pool));
        self
    }

    /// Device ordinal, -1 for host segments.
    #[must_use]
    pub fn device(&self) -> Option<i64> {
        self.core.int(DEVICE).and_then(|device| i64::try_from(device).ok())
    }

    /// Base address.
    #[must_use]
    pub fn address(&self) -> Option<u64> {
        self.core.bits(ADDRESS)
    }

    /// Bytes held from the runtime.
    #[must_use]
    pub fn total_bytes(&self) -> Option<u64> {
        self.core.bits(TOTAL_SIZE)
    }

    /// Sum of the sizes of blocks in use, bytes.
    #[must_use]
    pub fn allocated_bytes(&self) -> Option<u64> {
        self.core.bits(ALLOCATED_SIZE)
    }

    /// Sum of the sizes of blocks in use or pending, bytes.
    #[must_use]
    pub fn active_bytes(&self) -> Option<u64> {
        self.core.bits(ACTIVE_SIZE)
    }

    /// Sum of the requests of blocks in use or pending, bytes.
    #[must_use]
    pub fn requested_bytes(&self) -> Option<u64> {
        self.core.bits(REQUESTED_SIZE)
    }

    /// Stream, 0 for the default one.
    #[must_use]
    pub fn stream(&self) -> Option<u64> {
        self.core.bits(STREAM)
    }

    /// Which block pool the segment serves: `"small"` or `"large"`.
    #[must_use]
    pub fn segment_type<'t>(&self, stacks: &'t StackTable) -> Option<&'t str> {
        self.segment_type_id().map(|id| stacks.text(id))
    }

    /// Whether the segment serves the small pool.
    #[must_use]
    pub fn is_small(&self) -> bool {
        self.segment_type_id() == Some(fixed_text(14))
    }

    /// Private pool; [`PoolId::DEFAULT`] for the default one.
    #[must_use]
    pub fn pool(&self) -> Option<PoolId> {
        self.core.pool()
    }

    /// Whether the segment can be extended by mapping.
    #[must_use]
    pub fn is_expandable(&self) -> Option<bool> {
        self.core.flag()
    }

    /// Stack of the segment's allocation.
    #[must_use]
    pub fn stack(&self) -> Option<StackId> {
        self.core.stack()
    }

    /// Blocks in address order; empty when the key is absent.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        self.blocks.as_deref().unwrap_or_default()
    }

    fn segment_type_id(&self) -> Option<StrId> {
        self.core.text(SEGMENT_TYPE)
    }
}

impl Record for Segment {
    type Core = Core<7, 1>;
    const SCHEMA: &'static Schema = &SCHEMA;

    fn empty() -> Self {
        Self::default()
    }

    fn core(&self) -> &Self::Core {
        &self.core
    }

    fn core_mut(&mut self) -> &mut Self::Core {
        &mut self.core
    }

    fn blocks(&self) -> Option<&[Block]> {
        self.blocks.as_deref()
    }

    fn set_blocks(&mut self, blocks: Option<Vec<Block>>) {
        self.blocks = blocks;
    }
}
