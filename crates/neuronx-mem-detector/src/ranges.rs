//! Freed memory by address: which block was freed there last. Knows intervals that never overlap.

use std::collections::BTreeMap;

/// A piece of freed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The block that was freed there.
    pub(crate) serial: u64,
    /// Filled when it was freed.
    pub(crate) is_poisoned: bool,
}

/// Pieces by first address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    by_start: BTreeMap<u64, Range>,
}

impl Ranges {
    /// Adds a piece where there is none.
    pub(crate) fn insert(&mut self, range: Range) {
        if range.start < range.end {
            self.by_start.insert(range.start, range);
        }
    }

    /// The lowest piece that shares a byte with `start..end`. O(log pieces).
    pub(crate) fn first_in(&self, start: u64, end: u64) -> Option<Range> {
        let below = self.by_start.range(..=start).next_back().filter(|(_, range)| range.end > start);
        let above = || self.by_start.range(start..end).next();
        below.or_else(above).map(|(_, range)| *range)
    }

    /// Cuts `start..end` out, and returns what was there in order of address.
    pub(crate) fn take(&mut self, start: u64, end: u64) -> Vec<Range> {
        let mut taken = Vec::new();
        while let Some(range) = self.first_in(start, end) {
            self.by_start.remove(&range.start);
            self.insert(Range { end: start.min(range.end), ..range });
            self.insert(Range { start: end.max(range.start), ..range });
            taken.push(Range { start: range.start.max(start), end: range.end.min(end), ..range });
        }
        taken
    }

    /// Removes the pieces of one block, which lie in `start..end`.
    pub(crate) fn forget(&mut self, start: u64, end: u64, serial: u64) {
        let of_block = |range: &Range| range.serial == serial;
        let starts: Vec<u64> =
            self.by_start.range(start..end).filter(|(_, range)| of_block(range)).map(|(s, _)| *s).collect();
        starts.iter().for_each(|start| {
            self.by_start.remove(start);
        });
    }

    /// All pieces in order of address.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Range> + '_ {
        self.by_start.values().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::{Range, Ranges};

    fn range(start: u64, end: u64, serial: u64) -> Range {
        Range { start, end, serial, is_poisoned: true }
    }

    #[test]
    fn taking_the_middle_leaves_both_ends() {
        let mut ranges = Ranges::default();
        ranges.insert(range(0, 100, 1));
        assert_eq!(ranges.take(40, 60), [range(40, 60, 1)]);
        assert_eq!(ranges.iter().collect::<Vec<_>>(), [range(0, 40, 1), range(60, 100, 1)]);
        assert_eq!(ranges.take(0, 100), [range(0, 40, 1), range(60, 100, 1)]);
        assert_eq!(ranges.first_in(0, 100), None);
    }

    #[test]
    fn forgetting_one_block_leaves_its_neighbours() {
        let mut ranges = Ranges::default();
        [range(0, 10, 1), range(10, 20, 2), range(20, 30, 1)]
            .into_iter()
            .for_each(|piece| ranges.insert(piece));
        ranges.forget(0, 30, 1);
        assert_eq!(ranges.iter().collect::<Vec<_>>(), [range(10, 20, 2)]);
        assert_eq!(ranges.first_in(0, 10), None);
        assert_eq!(ranges.first_in(0, 11), Some(range(10, 20, 2)));
    }
}
