//! Looking at a pool: segments and blocks in order of address, and the sums over them. Copies
//! out what it shows; never for the hot path.

use crate::block::{BlockId, BlockState, State};
use crate::segment::SegmentId;
use crate::{PoolKind, SegmentPool};

/// One segment as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentView {
    /// Its name.
    pub id: SegmentId,
    /// First device address.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// The pool it belongs to.
    pub kind: PoolKind,
    /// The word it was added with.
    pub tag: u64,
    slot: u32,
}

/// One block as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockView {
    /// Its handle.
    pub id: BlockId,
    /// The segment it lies in.
    pub segment: SegmentId,
    /// The pool it belongs to.
    pub kind: PoolKind,
    /// First device address.
    pub address: u64,
    /// Bytes to the next block.
    pub extent_bytes: u64,
    /// Bytes that count as allocated; 0 for a free block.
    pub block_bytes: u64,
    /// Bytes its owner asked for; 0 for a free block.
    pub requested_bytes: u64,
    /// What it is doing.
    pub state: BlockState,
    /// The caller's word; 0 for a free block.
    pub tag: u64,
}

/// Sums over the blocks of a pool (allocator semantics §1), bytes.
///
/// `reserved = allocated + padding + cached free`, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Sum of the segments.
    pub reserved_bytes: u64,
    /// Sum of the block sizes of live and pending blocks.
    pub allocated_bytes: u64,
    /// Sum of what their owners asked for.
    pub active_bytes: u64,
    /// Sum of the extents of free blocks.
    pub cached_free_bytes: u64,
    /// Sum of extent minus block size over live and pending blocks.
    pub padding_bytes: u64,
    /// Part of `allocated_bytes` whose deallocation is queued.
    pub pending_bytes: u64,
}

impl SegmentPool {
    /// All segments in order of address.
    pub fn segments(&self) -> impl Iterator<Item = SegmentView> + '_ {
        self.segments.slots().map(|slot| {
            let segment = self.segments.at(slot);
            SegmentView {
                id: self.segments.id(slot),
                address: segment.address,
                bytes: segment.bytes,
                kind: segment.kind,
                tag: segment.tag,
                slot,
            }
        })
    }

    /// The blocks of a segment in order of address; none when it is no longer held.
    pub fn blocks(&self, segment: &SegmentView) -> impl Iterator<Item = BlockView> + '_ {
        let is_held = self.segments.id(segment.slot) == segment.id;
        let slots = if is_held { self.block_slots(segment.slot) } else { Vec::new() };
        slots.into_iter().map(|slot| self.block_view(slot))
    }

    /// Number of segments held. O(1).
    #[must_use]
    pub fn n_segments(&self) -> usize {
        self.segments.n_segments()
    }

    /// The block that holds a device address, free or not. O(log segments + blocks of one).
    #[must_use]
    pub fn find_block(&self, address: u64) -> Option<BlockView> {
        let segment = self.segments.containing(address)?;
        let position = self.segments.at(segment).origin + (address - self.segments.at(segment).address);
        let holds = |slot: &u32| {
            let block = &self.slab[*slot];
            position - block.position < block.extent
        };
        self.block_slots(segment).into_iter().find(holds).map(|slot| self.block_view(slot))
    }

    /// One live or pending block. O(1). `None` for a handle of no such block.
    #[must_use]
    pub fn block(&self, id: BlockId) -> Option<BlockView> {
        let slot =
            self.slab.resolve(id, State::Live).or_else(|_| self.slab.resolve(id, State::PendingFree)).ok()?;
        Some(self.block_view(slot))
    }

    /// The runtime's handle and the offset of a live or pending block in its segment: what a
    /// slice is made of. O(1). `None` for a handle of no such block.
    #[must_use]
    pub fn slice_of(&self, id: BlockId) -> Option<(u64, u64)> {
        let slot =
            self.slab.resolve(id, State::Live).or_else(|_| self.slab.resolve(id, State::PendingFree)).ok()?;
        let block = &self.slab[slot];
        let segment = self.segments.of(block);
        Some((segment.tag, block.position - segment.origin))
    }

    /// Adds up the blocks of both pools. O(blocks).
    #[must_use]
    pub fn usage(&self) -> Usage {
        PoolKind::ALL.map(|kind| self.usage_of(kind)).into_iter().fold(Usage::default(), Usage::plus)
    }

    /// Adds up the blocks of one pool. O(blocks).
    #[must_use]
    pub fn usage_of(&self, kind: PoolKind) -> Usage {
        let mut usage = Usage::default();
        for segment in self.segments().filter(|s| s.kind == kind) {
            usage.reserved_bytes += segment.bytes;
            for block in self.blocks(&segment) {
                usage.add(&block);
            }
        }
        usage
    }

    pub(crate) fn block_view(&self, slot: u32) -> BlockView {
        let block = &self.slab[slot];
        let state = match block.state {
            State::Live => BlockState::Live,
            State::PendingFree => BlockState::PendingFree,
            State::Free | State::Spare => BlockState::Free,
        };
        let is_free = state == BlockState::Free;
        let unless_free = |value: u64| if is_free { 0 } else { value };
        BlockView {
            id: self.slab.id(slot),
            segment: self.segments.id(block.segment),
            kind: block.kind,
            address: self.segments.of(block).address_of(block.position),
            extent_bytes: block.extent,
            block_bytes: unless_free(block.block_bytes()),
            requested_bytes: unless_free(block.requested),
            state,
            tag: unless_free(block.tag),
        }
    }
}

impl Usage {
    fn add(&mut self, block: &BlockView) {
        match block.state {
            BlockState::Free => self.cached_free_bytes += block.extent_bytes,
            BlockState::Live | BlockState::PendingFree => {
                self.allocated_bytes += block.block_bytes;
                self.active_bytes += block.requested_bytes;
                self.padding_bytes += block.extent_bytes - block.block_bytes;
            }
        }
        if block.state == BlockState::PendingFree {
            self.pending_bytes += block.block_bytes;
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            reserved_bytes: self.reserved_bytes + other.reserved_bytes,
            allocated_bytes: self.allocated_bytes + other.allocated_bytes,
            active_bytes: self.active_bytes + other.active_bytes,
            cached_free_bytes: self.cached_free_bytes + other.cached_free_bytes,
            padding_bytes: self.padding_bytes + other.padding_bytes,
            pending_bytes: self.pending_bytes + other.pending_bytes,
        }
    }
}
