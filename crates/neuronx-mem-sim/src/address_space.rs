//! First-fit address space of one device. Knows ranges, not who holds them.

use std::collections::BTreeMap;
use std::ops::Range;

/// Segments start on multiples of this, as the allocator expects (allocator semantics §3).
pub(crate) const ALIGNMENT_BYTES: u64 = 64;

/// Free ranges by first address; neighbours are always merged.
///
/// Every gap starts on a multiple of the alignment: whatever is taken starts on one, and ends on
/// one or at the end of the space.
#[derive(Debug)]
pub(crate) struct AddressSpace {
    gaps: BTreeMap<u64, u64>,
    range: Range<u64>,
}

impl AddressSpace {
    pub(crate) fn new(range: Range<u64>) -> Self {
        let mut gaps = BTreeMap::new();
        if range.start < range.end {
            gaps.insert(range.start, range.end - range.start);
        }
        Self { gaps, range }
    }

    pub(crate) fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Takes the lowest place that is large enough at or above `start`, a multiple of the
    /// alignment; below it only when there is none above. O(gaps).
    ///
    /// The space a request takes is rounded up to the alignment; where only the last bytes of
    /// the device are left the unrounded length is enough.
    pub(crate) fn take_from(&mut self, start: u64, bytes: u64) -> Option<Range<u64>> {
        let padded = bytes.checked_next_multiple_of(ALIGNMENT_BYTES)?;
        let at = self.first_fit(start, bytes).or_else(|| self.first_fit(self.range.start, bytes))?;
        let length = self.gap_around(at).map(|gap| gap.end - at)?;
        self.take_exactly(at..at + padded.min(length))
    }

    /// Takes the upper end of the highest gap that is large enough. O(gaps).
    pub(crate) fn take_highest(&mut self, bytes: u64) -> Option<Range<u64>> {
        let (start, length) = self.gaps.iter().rev().find(|(_, l)| **l >= bytes).map(|(s, l)| (*s, *l))?;
        let end = start + length;
        self.take_exactly((end - bytes) / ALIGNMENT_BYTES * ALIGNMENT_BYTES..end)
    }

    /// Takes `bytes` off the highest gap, or all of a smaller one: where somebody else's memory
    /// is put. Takes less than the alignment too much rather than too little.
    pub(crate) fn take_from_top(&mut self, bytes: u64) -> Option<Range<u64>> {
        let (start, length) = self.gaps.iter().next_back().map(|(s, l)| (*s, *l))?;
        let end = start + length;
        let taken = (end - bytes.min(length)) / ALIGNMENT_BYTES * ALIGNMENT_BYTES..end;
        (bytes > 0).then(|| self.take_exactly(taken)).flatten()
    }

    /// Takes exactly this range if it is free. O(log gaps).
    pub(crate) fn take_exactly(&mut self, wanted: Range<u64>) -> Option<Range<u64>> {
        let gap = self.gap_around(wanted.start).filter(|gap| wanted.end <= gap.end)?;
        if wanted.is_empty() {
            return None;
        }
        self.gaps.remove(&gap.start);
        if gap.start < wanted.start {
            self.gaps.insert(gap.start, wanted.start - gap.start);
        }
        if wanted.end < gap.end {
            self.gaps.insert(wanted.end, gap.end - wanted.end);
        }
        Some(wanted)
    }

    /// Returns a range that was taken. O(log gaps).
    pub(crate) fn give_back(&mut self, range: Range<u64>) {
        let mut start = range.start;
        let mut length = range.end - range.start;
        if let Some((below, below_length)) = self.gaps.range(..start).next_back().map(|(s, l)| (*s, *l)) {
            debug_assert!(below + below_length <= start, "range given back twice");
            if below + below_length == start {
                self.gaps.remove(&below);
                start = below;
                length += below_length;
            }
        }
        if let Some(above_length) = self.gaps.remove(&range.end) {
            length += above_length;
        }
        self.gaps.insert(start, length);
    }

    pub(crate) fn largest_gap_bytes(&self) -> u64 {
        self.gaps.values().copied().max().unwrap_or(0)
    }

    pub(crate) fn free_bytes(&self) -> u64 {
        self.gaps.values().sum()
    }

    fn first_fit(&self, start: u64, bytes: u64) -> Option<u64> {
        if self.gap_around(start).is_some_and(|gap| gap.end - start >= bytes) {
            return Some(start);
        }
        self.gaps.range(start..).find(|(_, length)| **length >= bytes).map(|(gap, _)| *gap)
    }

    fn gap_around(&self, address: u64) -> Option<Range<u64>> {
        let (start, length) = self.gaps.range(..=address).next_back()?;
        (address < start + length).then(|| *start..start + length)
    }
}
