//! Segments in, segments out. Everything here is off the hot path, and nothing here talks to a
//! runtime: the caller brings addresses and takes them back.

use crate::block::{Block, NONE, State};
use crate::pool::{cut_front, hand_out};
use crate::{Placement, PoolError, PoolKind, ReleasedSegment, Request, SegmentId, SegmentPool};

impl SegmentPool {
    /// Adds a segment and carves the request from it at once.
    ///
    /// `tag` is kept for the caller: the runtime's handle. A fresh segment may be split whatever
    /// its size. O(log n).
    ///
    /// # Errors
    ///
    /// [`PoolError::SegmentTooSmall`], [`PoolError::UnalignedSegment`],
    /// [`PoolError::SegmentOverlap`] or [`PoolError::OutOfRecords`]; the pool is unchanged.
    pub fn grow(
        &mut self,
        request: &Request,
        address: u64,
        segment_bytes: u64,
        tag: u64,
    ) -> Result<Placement, PoolError> {
        if segment_bytes < request.extent {
            return Err(PoolError::SegmentTooSmall { segment_bytes, extent_bytes: request.extent });
        }
        let slot = self.add_segment(request.kind, address, segment_bytes, tag)?;
        let Self { policy, slab, segments, .. } = self;
        let is_worth_splitting = policy.is_worth_splitting(segment_bytes, request);
        let front = if is_worth_splitting { slab.take() } else { NONE };
        if front != NONE {
            let placement = cut_front(slab, segments, slot, front, request);
            match request.kind {
                PoolKind::Small => self.small.hold(&mut self.slab, slot),
                PoolKind::Large => self.large.hold(&mut self.slab, slot),
            }
            return Ok(placement);
        }
        Ok(hand_out(slab, segments, slot, request))
    }

    /// Adds a segment as one free block, for memory taken ahead of any request. O(log n).
    ///
    /// # Errors
    ///
    /// As for [`grow`](Self::grow).
    pub fn insert_segment(
        &mut self,
        kind: PoolKind,
        address: u64,
        segment_bytes: u64,
        tag: u64,
    ) -> Result<SegmentId, PoolError> {
        let slot = self.add_segment(kind, address, segment_bytes, tag)?;
        self.index_insert(kind, slot);
        Ok(self.segments.id(self.slab[slot].segment))
    }

    /// Takes all fully free segments out, for the caller to give back, in order of address.
    ///
    /// O(segments + released · log n).
    pub fn release_free_segments(&mut self) -> Vec<ReleasedSegment> {
        let is_free = |slot: &u32| {
            let first = &self.slab[self.segments.at(*slot).first_block];
            first.state == State::Free && !first.is_split()
        };
        let slots: Vec<u32> = self.segments.slots().filter(is_free).collect();
        slots.into_iter().map(|slot| self.remove_segment(slot)).collect()
    }

    /// Takes everything out, whatever is still live: for the end of a device's life.
    ///
    /// Every handle goes stale. O(segments + blocks).
    pub fn release_all_segments(&mut self) -> Vec<ReleasedSegment> {
        let live: Vec<u32> = self.segments.slots().flat_map(|s| self.block_slots(s)).collect();
        for slot in live {
            if matches!(self.slab[slot].state, State::Live | State::PendingFree) {
                self.release_block(slot);
            }
        }
        self.release_free_segments()
    }

    #[cold]
    fn add_segment(&mut self, kind: PoolKind, address: u64, bytes: u64, tag: u64) -> Result<u32, PoolError> {
        self.segments.check(address, bytes)?;
        let block_slot = self.slab.take();
        if block_slot == NONE {
            return Err(PoolError::OutOfRecords);
        }
        if !self.segments.has_room(bytes) {
            self.renumber();
        }
        let segment = self.segments.insert(address, bytes, kind, tag);
        let origin = self.segments.at(segment).origin;
        self.segments.at_mut(segment).first_block = block_slot;
        let generation = self.slab[block_slot].generation;
        self.slab[block_slot] = Block {
            position: origin,
            extent: bytes,
            segment,
            state: State::Free,
            kind,
            generation,
            ..Block::SPARE
        };
        Ok(block_slot)
    }

    fn remove_segment(&mut self, slot: u32) -> ReleasedSegment {
        let segment = *self.segments.at(slot);
        self.index_remove(segment.kind, segment.first_block);
        self.slab.retire(segment.first_block);
        let id = self.segments.id(slot);
        self.segments.remove(slot);
        ReleasedSegment {
            id,
            kind: segment.kind,
            address: segment.address,
            bytes: segment.bytes,
            tag: segment.tag,
        }
    }

    /// Moves all segments down the number line. Their order stays, so the indexes stay valid.
    #[cold]
    fn renumber(&mut self) {
        for (slot, old_origin) in self.segments.renumber() {
            let origin = self.segments.at(slot).origin;
            for block in self.block_slots(slot) {
                let record = &mut self.slab[block];
                record.position = origin + (record.position - old_origin);
            }
        }
    }
}

#[cfg(test)]
mod tests;
