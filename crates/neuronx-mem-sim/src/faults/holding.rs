//! Memory of somebody else, put at the top of the device. Never takes what is not free.

use std::ops::Range;

use crate::address_space::{ALIGNMENT_BYTES, AddressSpace};

/// Ranges taken from the top of an address space down, the highest first.
#[derive(Debug, Default)]
pub(crate) struct Holding {
    ranges: Vec<Range<u64>>,
    bytes: u64,
}

impl Holding {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Grows or shrinks towards `level_bytes`, as far as memory is free; holds less than the
    /// alignment too much rather than too little.
    pub(crate) fn move_to(&mut self, level_bytes: u64, space: &mut AddressSpace) {
        while let Some(missing) = level_bytes.checked_sub(self.bytes).filter(|bytes| *bytes > 0) {
            let Some(range) = space.take_from_top(missing) else { break };
            self.add(range);
        }
        while let Some(excess) = self.bytes.checked_sub(level_bytes).filter(|b| *b >= ALIGNMENT_BYTES) {
            if !self.give_back_up_to(excess, space) {
                break;
            }
        }
    }

    pub(crate) fn add(&mut self, range: Range<u64>) {
        self.bytes += range.end - range.start;
        match self.ranges.last_mut().filter(|last| last.start == range.end) {
            Some(last) => last.start = range.start,
            None => self.ranges.push(range),
        }
    }

    pub(crate) fn give_all_back(&mut self, space: &mut AddressSpace) {
        self.ranges.drain(..).for_each(|range| space.give_back(range));
        self.bytes = 0;
    }

    /// Gives back the lower end of the range taken last; false when it is kept whole.
    fn give_back_up_to(&mut self, excess: u64, space: &mut AddressSpace) -> bool {
        let Some(range) = self.ranges.pop() else { return false };
        let length = range.end - range.start;
        let given = if length <= excess { length } else { excess / ALIGNMENT_BYTES * ALIGNMENT_BYTES };
        let cut = range.start + given;
        if cut < range.end {
            self.ranges.push(cut..range.end);
        }
        space.give_back(range.start..cut);
        self.bytes -= given;
        given > 0
    }
}
