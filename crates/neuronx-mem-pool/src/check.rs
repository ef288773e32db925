//! Whether a pool is what it claims to be. Walks everything; for tests, fuzzing and the debug
//! assertions of the hot path. Repairs nothing.

use std::fmt;

use crate::block::{NONE, State};
use crate::index::{FreeIndex, SizeBins};
use crate::{PoolKind, SegmentPool};

/// A broken promise of the data structure: always a bug in this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inconsistency {
    what: String,
}

impl fmt::Display for Inconsistency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Inconsistency {}

fn broken(what: String) -> Inconsistency {
    Inconsistency { what }
}

impl SegmentPool {
    /// Checks every link, sum and bin of the pool. O(blocks · log n).
    ///
    /// # Errors
    ///
    /// The first [`Inconsistency`] found.
    pub fn validate(&self) -> Result<(), Inconsistency> {
        for slot in self.segments.slots() {
            self.validate_segment(slot)?;
        }
        self.validate_index(&self.small, PoolKind::Small)?;
        self.validate_index(&self.large, PoolKind::Large)
    }

    fn validate_segment(&self, segment_slot: u32) -> Result<(), Inconsistency> {
        let segment = self.segments.at(segment_slot);
        let mut position = segment.origin;
        let (mut prev, mut was_free) = (NONE, false);
        for slot in self.block_slots(segment_slot) {
            let block = &self.slab[slot];
            let is_free = block.state == State::Free;
            if block.position != position || block.prev != prev || block.segment != segment_slot {
                return Err(broken(format!(
                    "block {slot} does not follow block {prev} in segment {segment_slot}"
                )));
            }
            if block.extent == 0 || block.state == State::Spare || u64::from(block.padding) >= 64 {
                return Err(broken(format!("block {slot} is empty, spare or over-padded")));
            }
            if is_free && was_free {
                return Err(broken(format!("free blocks {prev} and {slot} are neighbours and not merged")));
            }
            if !is_free && block.requested > block.block_bytes() {
                return Err(broken(format!("block {slot} is smaller than its request")));
            }
            position += block.extent;
            (prev, was_free) = (slot, is_free);
        }
        if position - segment.origin != segment.bytes {
            return Err(broken(format!("blocks of segment {segment_slot} do not add up to it")));
        }
        Ok(())
    }

    fn validate_index<B: SizeBins>(&self, index: &FreeIndex<B>, kind: PoolKind) -> Result<(), Inconsistency> {
        if !index.is_in_order(&self.slab) {
            return Err(broken(format!("{} index is out of order", kind.name())));
        }
        let mut indexed = index.slots(&self.slab);
        let segments = self.segments.slots().filter(|s| self.segments.at(*s).kind == kind);
        let mut free: Vec<u32> = segments
            .flat_map(|s| self.block_slots(s))
            .filter(|b| self.slab[*b].state == State::Free)
            .collect();
        indexed.sort_unstable();
        free.sort_unstable();
        if indexed != free {
            return Err(broken(format!("{} index and free blocks differ", kind.name())));
        }
        Ok(())
    }

    /// Debug assertions after each move: the block's neighbours touch it, and every free one of
    /// the three is in its bin. Compiled out of release builds.
    #[inline]
    pub(crate) fn debug_check_around(&self, slot: u32) {
        if !cfg!(debug_assertions) {
            return;
        }
        let block = &self.slab[slot];
        self.debug_check_indexed(slot);
        if block.prev != NONE {
            let prev = &self.slab[block.prev];
            assert_eq!(prev.position + prev.extent, block.position, "block {slot} does not touch its left");
            assert_eq!(prev.next, slot, "left neighbour of block {slot} does not know it");
            self.debug_check_indexed(block.prev);
        }
        if block.next != NONE {
            let next = &self.slab[block.next];
            assert_eq!(block.position + block.extent, next.position, "block {slot} does not touch its right");
            assert_eq!(next.prev, slot, "right neighbour of block {slot} does not know it");
            self.debug_check_indexed(block.next);
        }
    }

    fn debug_check_indexed(&self, slot: u32) {
        let block = &self.slab[slot];
        let is_indexed = match self.segments.of(block).kind {
            PoolKind::Small => self.small.contains(&self.slab, slot),
            PoolKind::Large => self.large.contains(&self.slab, slot),
        };
        assert_eq!(is_indexed, block.state == State::Free, "block {slot} and its bin disagree");
    }
}
