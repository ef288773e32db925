//! The segments held from the runtime, and the number line on which they stand in order of age.
//! Knows addresses; leaves blocks to the slab.

use std::collections::BTreeMap;
use std::fmt;

use crate::block::{Block, NONE};
use crate::{PoolError, PoolKind};

/// Names one segment from its arrival to its release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

impl fmt::Display for SegmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.slot, self.generation)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// First device address.
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    /// Position of its first byte. Each new segment starts where the last one ended, so a lower
    /// position means an older segment or, within one, a lower offset.
    pub(crate) origin: u64,
    /// The block at offset 0; it never changes slot while the segment lives.
    pub(crate) first_block: u32,
    pub(crate) generation: u32,
    pub(crate) kind: PoolKind,
    /// The caller's word for it: the runtime's handle.
    pub(crate) tag: u64,
}

impl Segment {
    /// The device address at a position of this segment.
    #[inline]
    pub(crate) fn address_of(&self, position: u64) -> u64 {
        self.address + (position - self.origin)
    }
}

pub(crate) struct SegmentTable {
    records: Vec<Segment>,
    spare: Vec<u32>,
    by_address: BTreeMap<u64, u32>,
    next_origin: u64,
}

impl SegmentTable {
    pub(crate) fn new() -> Self {
        Self { records: Vec::new(), spare: Vec::new(), by_address: BTreeMap::new(), next_origin: 0 }
    }

    /// Checks that a segment could be added. O(log segments).
    pub(crate) fn check(&self, address: u64, bytes: u64) -> Result<(), PoolError> {
        if !address.is_multiple_of(64) {
            return Err(PoolError::UnalignedSegment { address });
        }
        let overlap = PoolError::SegmentOverlap { address, segment_bytes: bytes };
        let end = address.checked_add(bytes).ok_or(overlap)?;
        let below = self.by_address.range(..=address).next_back();
        let above = self.by_address.range(address..).next();
        let is_clear_below = below.is_none_or(|(start, slot)| *start + self.at(*slot).bytes <= address);
        let is_clear_above = above.is_none_or(|(start, _)| end <= *start);
        if bytes == 0 || !is_clear_below || !is_clear_above {
            return Err(overlap);
        }
        Ok(())
    }

    /// Adds a segment that [`check`](Self::check) accepts. O(log segments).
    pub(crate) fn insert(&mut self, address: u64, bytes: u64, kind: PoolKind, tag: u64) -> u32 {
        let origin = self.next_origin;
        self.next_origin += bytes;
        let segment = Segment { address, bytes, origin, first_block: NONE, generation: 0, kind, tag };
        let slot = match self.spare.pop() {
            Some(slot) => {
                let generation = self.at(slot).generation;
                self.records[slot as usize] = Segment { generation, ..segment };
                slot
            }
            None => {
                self.records.push(segment);
                u32::try_from(self.records.len() - 1).unwrap_or(NONE)
            }
        };
        self.by_address.insert(address, slot);
        slot
    }

    /// Whether `bytes` more still fit on the number line.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        self.next_origin.checked_add(bytes).is_some()
    }

    /// Closes the holes that released segments left on the number line, keeping the order; the
    /// caller moves the blocks by the returned (slot, old origin) pairs. Needed once in 2^64
    /// bytes of segments.
    pub(crate) fn renumber(&mut self) -> Vec<(u32, u64)> {
        let mut slots: Vec<u32> = self.by_address.values().copied().collect();
        slots.sort_by_key(|slot| self.at(*slot).origin);
        self.next_origin = 0;
        let mut moved = Vec::with_capacity(slots.len());
        for slot in slots {
            let origin = self.next_origin;
            let segment = self.at_mut(slot);
            moved.push((slot, segment.origin));
            segment.origin = origin;
            self.next_origin += segment.bytes;
        }
        moved
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        let address = self.at(slot).address;
        self.by_address.remove(&address);
        let segment = self.at_mut(slot);
        segment.generation = segment.generation.wrapping_add(1);
        segment.first_block = NONE;
        self.spare.push(slot);
    }

    #[inline]
    pub(crate) fn at(&self, slot: u32) -> &Segment {
        &self.records[slot as usize]
    }

    pub(crate) fn at_mut(&mut self, slot: u32) -> &mut Segment {
        &mut self.records[slot as usize]
    }

    /// The segment that a block lies in.
    #[inline]
    pub(crate) fn of(&self, block: &Block) -> &Segment {
        self.at(block.segment)
    }

    pub(crate) fn id(&self, slot: u32) -> SegmentId {
        SegmentId { slot, generation: self.at(slot).generation }
    }

    /// Slots in order of address.
    pub(crate) fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.by_address.values().copied()
    }

    pub(crate) fn n_segments(&self) -> usize {
        self.by_address.len()
    }

    /// The segment that holds an address. O(log segments).
    pub(crate) fn containing(&self, address: u64) -> Option<u32> {
        let (start, slot) = self.by_address.range(..=address).next_back()?;
        (address - start < self.at(*slot).bytes).then_some(*slot)
    }

    #[cfg(test)]
    pub(crate) fn set_next_origin(&mut self, origin: u64) {
        self.next_origin = origin;
    }
}
