//! Allocate and free: best fit with splitting on the way in, merging on the way out. The hot
//! path; segments come and go in `growth.rs`. Never asks a runtime for anything.

use std::fmt;

use neuronx_mem_config::AllocatorConfig;

use crate::block::{BlockId, NONE, State};
use crate::index::{ClassBins, ExactBins, FreeIndex, SizeBins};
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

    /// First device address.
    #[must_use]
    pub fn address(&self) -> u64 {
        let block = &self.pool.slab[self.slot];
        self.pool.segments.of(block).address_of(block.position)
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
        let Self { policy, slab, segments, small, large } = self;
        match request.kind {
            PoolKind::Small => take_best(small, slab, segments, policy, request),
            PoolKind::Large => take_best(large, slab, segments, policy, request),
        }
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

    /// Gives a block whose deallocation is queued to a new request of exactly its extent and pool,
    /// without making it free in between; its old handle goes stale. O(1).
    ///
    /// `None` when the request does not fit the block exactly: the block stays as it is.
    ///
    /// # Errors
    ///
    /// As for [`free_pending`](Self::free_pending).
    pub fn reuse_pending(
        &mut self,
        id: BlockId,
        request: &Request,
    ) -> Result<Option<(Freed, Placement)>, PoolError> {
        let slot = self.slab.resolve(id, State::PendingFree)?;
        let block = &mut self.slab[slot];
        if block.extent != request.extent || block.kind != request.kind {
            return Ok(None);
        }
        let freed = Freed {
            kind: block.kind,
            requested_bytes: block.requested,
            block_bytes: block.block_bytes(),
            extent_bytes: block.extent,
            split: SplitChange::default(),
        };
        block.generation = block.generation.wrapping_add(1);
        let placement = hand_out(&mut self.slab, &self.segments, slot, request);
        Ok(Some((freed, Placement { split: SplitChange::default(), ..placement })))
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

    /// Makes a live or pending block free: the common end of all frees.
    ///
    /// The free block that results keeps the record of its right part where that was free, so
    /// that the held remainder of a split stays held when what was cut off it returns.
    #[inline(always)]
    pub(crate) fn release_block(&mut self, slot: u32) -> Freed {
        let Self { slab, segments, small, large, .. } = self;
        let kind = slab[slot].kind;
        let (merged, freed) = match kind {
            PoolKind::Small => release(small, slab, segments, slot, kind),
            PoolKind::Large => release(large, slab, segments, slot, kind),
        };
        self.debug_check_around(merged);
        freed
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

/// Frees a block: merges it with its free neighbours and puts what results into the index.
/// Returns its slot beside the numbers.
#[inline(always)]
fn release<B: SizeBins>(
    index: &mut FreeIndex<B>,
    slab: &mut Slab,
    segments: &mut SegmentTable,
    slot: u32,
    kind: PoolKind,
) -> (u32, Freed) {
    let block = &mut slab[slot];
    block.state = State::Free;
    block.generation = block.generation.wrapping_add(1);
    let (requested_bytes, block_bytes, extent_bytes) = (block.requested, block.block_bytes(), block.extent);
    let (prev, next) = (block.prev, block.next);
    // Free neighbours share the segment with this block, so they are split blocks until now.
    let mut gone = (0, 0);
    let mut merged = slot;
    let mut is_held = false;
    let right = &slab[next];
    if right.state == State::Free {
        gone = (1, right.extent);
        is_held = index.is_held(next);
        if !is_held {
            index.remove_binned(slab, next);
        }
        absorb_previous(slab, segments, next, slot);
        merged = next;
    }
    let left = &slab[prev];
    if left.state == State::Free {
        gone = (gone.0 + 1, gone.1 + left.extent);
        if index.is_held(prev) {
            index.replace_held(merged);
            is_held = true;
        } else {
            index.remove_binned(slab, prev);
        }
        absorb_previous(slab, segments, merged, prev);
    }
    let block = &slab[merged];
    let split = SplitChange::of_merge(gone, block.is_split(), block.extent);
    if !is_held {
        index.insert(slab, merged);
    }
    (merged, Freed { kind, requested_bytes, block_bytes, extent_bytes, split })
}

/// Extends `slot` over `previous`, its left neighbour, and retires the latter's record.
#[inline(always)]
fn absorb_previous(slab: &mut Slab, segments: &mut SegmentTable, slot: u32, previous: u32) {
    let left = &slab[previous];
    let (position, extent, before, segment) = (left.position, left.extent, left.prev, left.segment);
    slab.retire(previous);
    let block = &mut slab[slot];
    block.position = position;
    block.extent += extent;
    block.prev = before;
    slab[before].next = slot;
    if before == NONE {
        segments.at_mut(segment).first_block = slot;
    }
}

/// Takes the best fit out of an index, or its front part, if the policy lets it serve.
///
/// One candidate decides: where the smallest fitting block is too large to split and too large
/// to hand out whole, so is every larger one.
#[inline(always)]
fn take_best<B: SizeBins>(
    index: &mut FreeIndex<B>,
    slab: &mut Slab,
    segments: &mut SegmentTable,
    policy: &PlacementPolicy,
    request: &Request,
) -> Option<Placement> {
    let found = index.find(slab, request.extent);
    if found == NONE {
        return None;
    }
    let extent = slab[found].extent;
    if policy.may_split(extent) && policy.is_worth_splitting(extent, request) {
        let front = slab.take();
        if front != NONE {
            index.hold_found(slab, found);
            return Some(cut_front(slab, segments, found, front, request));
        }
    }
    if !policy.admits(extent, request.extent) {
        return None;
    }
    index.remove_found(slab, found);
    Some(hand_out(slab, segments, found, request))
}

/// Makes the front of a free block, which is in no bin, the block of a request. The rest keeps
/// its record.
#[inline(always)]
pub(crate) fn cut_front(
    slab: &mut Slab,
    segments: &mut SegmentTable,
    slot: u32,
    front: u32,
    request: &Request,
) -> Placement {
    let needed = request.extent;
    let rest = &mut slab[slot];
    let (position, extent, prev, segment_slot) = (rest.position, rest.extent, rest.prev, rest.segment);
    let was_split = rest.is_split();
    rest.position = position + needed;
    rest.extent = extent - needed;
    rest.prev = front;
    let block = &mut slab[front];
    block.position = position;
    block.extent = needed;
    block.requested = request.requested;
    block.tag = request.tag;
    block.prev = prev;
    block.next = slot;
    block.segment = segment_slot;
    block.state = State::Live;
    block.kind = request.kind;
    block.padding = request.padding;
    let id = BlockId::new(front, block.generation);
    slab[prev].next = front;
    let segment = segments.at_mut(segment_slot);
    if prev == NONE {
        segment.first_block = front;
    }
    Placement {
        id,
        address: segment.address_of(position),
        block_bytes: request.rounded_bytes(),
        extent_bytes: needed,
        split: SplitChange::of_cut(was_split, extent, extent - needed),
    }
}

/// Makes a whole free block, which is in no bin, the block of a request.
pub(crate) fn hand_out(slab: &mut Slab, segments: &SegmentTable, slot: u32, request: &Request) -> Placement {
    let block = &mut slab[slot];
    block.requested = request.requested;
    block.tag = request.tag;
    block.state = State::Live;
    block.padding = 0;
    Placement {
        id: BlockId::new(slot, block.generation),
        address: segments.at(block.segment).address_of(block.position),
        block_bytes: block.extent,
        extent_bytes: block.extent,
        split: SplitChange::of_whole(block.is_split(), block.extent),
    }
}
