//! First-fit address space of one device. Knows ranges, not who holds them.

use std::collections::BTreeMap;
use std::ops::Range;

/// Segments start on multiples of this, as the allocator expects (allocator semantics §3).
const ALIGNMENT_BYTES: u64 = 64;

/// Free ranges by first address; neighbours are always merged.
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

    /// Takes the lowest gap that is large enough. O(gaps).
    ///
    /// The space a request takes is rounded up to the alignment; where only the last bytes of
    /// the device are left the unrounded length is enough.
    pub(crate) fn take(&mut self, bytes: u64) -> Option<Range<u64>> {
        let padded = bytes.checked_next_multiple_of(ALIGNMENT_BYTES)?;
        let (start, length) =
            self.gaps.iter().find(|(_, length)| **length >= bytes).map(|(s, l)| (*s, *l))?;
        let taken = padded.min(length);
        self.gaps.remove(&start);
        if taken < length {
            self.gaps.insert(start + taken, length - taken);
        }
        Some(start..start + taken)
    }

    /// Takes the highest `bytes` of the space: where somebody else's memory is put.
    pub(crate) fn take_from_top(&mut self, bytes: u64) -> Option<Range<u64>> {
        if bytes == 0 {
            return None;
        }
        let (start, length) = self.gaps.iter().next_back().map(|(s, l)| (*s, *l))?;
        let taken = bytes.min(length);
        self.gaps.remove(&start);
        if taken < length {
            self.gaps.insert(start, length - taken);
        }
        Some(start + length - taken..start + length)
    }

    /// Returns a range that [`take`](Self::take) gave. O(log gaps).
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
}
