//! Allocate and free: best fit with splitting on the way in, merging on the way out. The hot
//! path; segments come and go in `growth.rs`. Never asks a runtime for anything.

use std::fmt;

use neuronx_mem_config::AllocatorConfig;

use crate::block::{BlockId, NONE, State};
use crate::index::{ClassBins, ExactBins, Found, FreeIndex};
use crate::outcome::{one_block, split_share};
use crate::segment::SegmentTable;
use crate::slab::Slab;
use crate::{Freed, Placement, PlacementPolicy, PoolError, PoolKind, Request, SplitChange};

/// The segments and blocks of one device: a small and a large pool over one slab of records.
///
/// Every operation on the hot path is O(log n) at worst and allocates no host memory except to
/// grow the slab.
pub struct SegmentPool {
    pub(crate) policy: PlacementPolicy,
    pub(crate) slab: Slab,
    pub(crate) segments: SegmentTable,
    pub(crate) small: FreeIndex<ExactBins>,
    pub(crate) large: FreeIndex<ClassBins>,
}

/// Sums, not records: a pool has too many of them to print.
impl fmt::Debug for SegmentPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SegmentPool")
            .field("n_segments", &self.n_segments())
            .field("usage", &self.usage())
            .finish_non_exhaustive()
    }
}

/// A live block of a pool, looked up once; see [`SegmentPool::live`].
#[derive(Debug)]
pub struct LiveBlock<'a> {
    pool: &'a mut SegmentPool,
    slot: u32,
}

impl LiveBlock<'_> {
    /// The caller's word for the block; 0 until set.
    #[must_use]
    #[inline]
    pub fn tag(&self) -> u64 {
        self.pool.slab[self.slot].tag
    }

    /// Sets the caller's word for the block.
    #[inline]
    pub fn set_tag(&mut self, tag: u64) {
        self.pool.slab[self.slot].tag = tag;
    }

    /// Bytes that count as allocated.
    #[must_use]
    #[inline]
    pub fn block_bytes(&self) -> u64 {
        self.pool.slab[self.slot].block_bytes()
    }

    /// Bytes its owner asked for.
    #[must_use]
    #[inline]
    pub fn requested_bytes(&self) -> u64 {
        self.pool.slab[self.slot].requested
    }

    /// Frees the block; see [`SegmentPool::free`].
    #[inline]
    pub fn free(self) -> Freed {
        self.pool.release_block(self.slot)
    }

    /// Marks the deallocation as queued; see [`SegmentPool::mark_pending`].
    #[inline]
    pub fn mark_pending(self) {
        self.pool.slab[self.slot].state = State::PendingFree;
    }
}

impl SegmentPool {
    /// Makes an empty pool; `config` holds for its life.
    #[must_use]
    pub fn new(config: &AllocatorConfig) -> Self {
        let policy = PlacementPolicy::new(config);
        Self {
            policy,
            slab: Slab::new(),
            segments: SegmentTable::new(),
            small: FreeIndex::new(ExactBins),
            large: FreeIndex::new(ClassBins),
        }
    }

    /// The rules in force.
    #[must_use]
    pub fn policy(&self) -> &PlacementPolicy {
        &self.policy
    }

    /// Serves a request from the cached blocks, or returns `None` when none may serve.
    ///
    /// Best fit: the smallest free block of the pool that is large enough; ties go to the older
    /// segment, then the lower offset (allocator semantics §3). O(log n).
    #[inline]
    pub fn allocate(&mut self, request: &Request) -> Option<Placement> {
        let slot = match request.kind {
            PoolKind::Small => take_best(&mut self.small, &mut self.slab, &self.policy, request.extent),
            PoolKind::Large => take_best(&mut self.large, &mut self.slab, &self.policy, request.extent),
        }?;
        let may_split = self.slab[slot].extent <= self.policy.max_split_bytes();
        Some(self.carve(slot, request, may_split))
    }

    /// Frees a live block and merges it with its free neighbours. O(log n).
    ///
    /// # Errors
    ///
    /// [`PoolError::DoubleFree`] for a block that is free or queued already,
    /// [`PoolError::StaleHandle`] for a handle whose record has moved on.
    #[inline]
    pub fn free(&mut self, id: BlockId) -> Result<Freed, PoolError> {
        self.live(id).map(LiveBlock::free)
    }

    /// Marks a live block's deallocation as queued; it stays live for all counters. O(1).
    ///
    /// # Errors
    ///
    /// As for [`free`](Self::free).
    #[inline]
    pub fn mark_pending(&mut self, id: BlockId) -> Result<(), PoolError> {
        self.live(id).map(LiveBlock::mark_pending)
    }

    /// Frees a block whose queued deallocation has run. O(log n).
    ///
    /// # Errors
    ///
    /// [`PoolError::NotPending`] for a live block that was not marked, else as for
    /// [`free`](Self::free).
    #[inline]
    pub fn free_pending(&mut self, id: BlockId) -> Result<Freed, PoolError> {
        let slot = self.slab.resolve(id, State::PendingFree)?;
        Ok(self.release_block(slot))
    }

    /// Looks a live block up, to read it and then free or queue it without a second look-up.
    /// O(1).
    ///
    /// # Errors
    ///
    /// As for [`free`](Self::free).
    #[inline]
    pub fn live(&mut self, id: BlockId) -> Result<LiveBlock<'_>, PoolError> {
        let slot = self.slab.resolve(id, State::Live)?;
        Ok(LiveBlock { pool: self, slot })
    }

    /// Turns a free block that is out of the index into the block of `request`.
    #[inline]
    pub(crate) fn carve(&mut self, slot: u32, request: &Request, may_split: bool) -> Placement {
        let before = split_share(&self.slab[slot]);
        let rest = self.slab[slot].extent - request.extent;
        let is_worth_it = may_split && rest != 0 && rest >= self.policy.split_threshold(request.kind);
        let remainder = if is_worth_it { self.split(slot, request.extent) } else { None };
        let block = &mut self.slab[slot];
        block.requested = request.requested;
        block.tag = request.tag;
        block.state = State::Live;
        block.padding = if remainder.is_some() { low_byte(request.extent - request.rounded) } else { 0 };
        let placement = Placement {
            id: BlockId { slot, generation: block.generation },
            address: self.segments.at(block.segment).address_of(block.position),
            block_bytes: block.block_bytes(),
            extent_bytes: block.extent,
            split: SplitChange::between(
                before,
                remainder.map_or(SplitChange::default(), |_| one_block(rest)),
            ),
        };
        if let Some(remainder) = remainder {
            match request.kind {
                PoolKind::Small => self.small.insert_remainder(&mut self.slab, remainder),
                PoolKind::Large => self.large.insert_remainder(&mut self.slab, remainder),
            }
        }
        self.debug_check_around(slot);
        placement
    }

    /// Cuts a block after `extent` bytes; the new free block is not in the index yet. `None`
    /// when no record is left: the caller then hands the block out whole.
    #[inline]
    fn split(&mut self, slot: u32, extent: u64) -> Option<u32> {
        let remainder = self.slab.take()?;
        let head = &mut self.slab[slot];
        let (position, rest) = (head.position + extent, head.extent - extent);
        let (next, segment, kind) = (head.next, head.segment, head.kind);
        head.extent = extent;
        head.next = remainder;
        let tail = &mut self.slab[remainder];
        tail.position = position;
        tail.extent = rest;
        tail.prev = slot;
        tail.next = next;
        tail.segment = segment;
        tail.state = State::Free;
        tail.kind = kind;
        tail.padding = 0;
        self.slab[next].prev = remainder;
        Some(remainder)
    }

    /// Makes a live or pending block free: the common end of all frees.
    #[inline]
    pub(crate) fn release_block(&mut self, slot: u32) -> Freed {
        let block = &mut self.slab[slot];
        block.state = State::Free;
        block.generation = block.generation.wrapping_add(1);
        let (requested, block_bytes, extent) = (block.requested, block.block_bytes(), block.extent);
        block.padding = 0;
        let (prev, next) = (block.prev, block.next);
        let kind = block.kind;
        let mut before = SplitChange::default();
        let mut merged = slot;
        if self.slab[next].state == State::Free {
            before = before.plus(one_block(self.slab[next].extent));
            self.index_remove(kind, next);
            self.absorb_next(slot, next);
        }
        if self.slab[prev].state == State::Free {
            before = before.plus(one_block(self.slab[prev].extent));
            self.index_remove(kind, prev);
            self.absorb_next(prev, slot);
            merged = prev;
        }
        let after = split_share(&self.slab[merged]);
        self.index_insert(kind, merged);
        self.debug_check_around(merged);
        Freed {
            kind,
            requested_bytes: requested,
            block_bytes,
            extent_bytes: extent,
            split: SplitChange::between(before, after),
        }
    }

    /// Extends `slot` over `next`, its right neighbour, and retires the latter's record.
    #[inline]
    fn absorb_next(&mut self, slot: u32, next: u32) {
        let (extent, after) = (self.slab[next].extent, self.slab[next].next);
        self.slab.retire(next);
        let block = &mut self.slab[slot];
        block.extent += extent;
        block.next = after;
        self.slab[after].prev = slot;
    }

    /// The blocks of a segment in order of address.
    pub(crate) fn block_slots(&self, segment: u32) -> Vec<u32> {
        let first = self.segments.at(segment).first_block;
        let next = |slot: &u32| Some(self.slab[*slot].next).filter(|next| *next != NONE);
        std::iter::successors(Some(first), next).collect()
    }

    #[inline]
    pub(crate) fn index_insert(&mut self, kind: PoolKind, slot: u32) {
        match kind {
            PoolKind::Small => self.small.insert(&mut self.slab, slot),
            PoolKind::Large => self.large.insert(&mut self.slab, slot),
        }
    }

    #[inline]
    pub(crate) fn index_remove(&mut self, kind: PoolKind, slot: u32) {
        match kind {
            PoolKind::Small => self.small.remove(&mut self.slab, slot),
            PoolKind::Large => self.large.remove(&mut self.slab, slot),
        }
    }
}

/// Takes the best fit out of an index if the policy lets it serve.
///
/// One candidate decides: where the smallest fitting block is too large to split and too large
/// to hand out whole, so is every larger one.
#[inline]
fn take_best<B: crate::index::SizeBins>(
    index: &mut FreeIndex<B>,
    slab: &mut Slab,
    policy: &PlacementPolicy,
    needed: u64,
) -> Option<u32> {
    let found: Found = index.find(slab, needed)?;
    if !policy.admits(slab[found.slot].extent, needed) {
        return None;
    }
    index.remove_found(slab, found);
    Some(found.slot)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "padding is below 64")]
fn low_byte(padding: u64) -> u8 {
    padding as u8
}
