//! The free blocks of one pool in best-fit order: bins by size under a bitmap, and one block held
//! beside them. Holds links in the block records, so it never allocates. Decides order, not
//! placement.

pub(crate) mod bins;
mod bitmap;
mod treap;

pub(crate) use bins::{ClassBins, ExactBins, SizeBins};

use crate::block::NONE;
use crate::slab::Slab;
use bitmap::Bitmap;

/// Free blocks ordered by (extent, segment age, offset).
///
/// One block may be *held* outside the bins: the remainder of the last split. Allocating from it
/// and freeing into it again, which is what tensors do most, then touch no bin. Searches compare
/// it with what the bins offer, so the order is the same as if it were in its bin.
///
/// A bin is its first block in order and, on that block's `right` link, a treap of the others:
/// most bins have one block or two, and those need no tree at all.
pub(crate) struct FreeIndex<B> {
    bins: B,
    held: u32,
    /// The first block of each bin; pages of bins that are never used are never touched.
    firsts: Box<[u32; N_BINS]>,
    occupied: Bitmap,
}

const N_BINS: usize = 1 << 16;

impl<B: SizeBins> FreeIndex<B> {
    pub(crate) fn new(bins: B) -> Self {
        let zeroed = vec![NONE; N_BINS].into_boxed_slice();
        let firsts = zeroed.try_into().unwrap_or_else(|_| Box::new([NONE; N_BINS]));
        Self { bins, held: NONE, firsts, occupied: Bitmap::new() }
    }

    /// Adds a free block. O(log n) of its bin, O(1) for an empty bin.
    #[inline(always)]
    pub(crate) fn insert(&mut self, slab: &mut Slab, slot: u32) {
        if self.held == NONE {
            self.held = slot;
            return;
        }
        self.insert_in_bin(slab, slot);
    }

    /// Adds a block and holds it; what was held goes to its bin. O(log n) of that bin.
    #[inline]
    pub(crate) fn hold(&mut self, slab: &mut Slab, slot: u32) {
        let before = std::mem::replace(&mut self.held, slot);
        if before != NONE {
            self.insert_in_bin(slab, before);
        }
    }

    /// Takes out a block that is in the index. O(log n) of its bin.
    pub(crate) fn remove(&mut self, slab: &mut Slab, slot: u32) {
        if slot == self.held {
            self.held = NONE;
        } else {
            self.remove_binned(slab, slot);
        }
    }

    /// Takes out a block that is in the index and not held. O(log n) of its bin, O(1) where the
    /// bin has no more than two blocks.
    #[inline(always)]
    pub(crate) fn remove_binned(&mut self, slab: &mut Slab, slot: u32) {
        let record = &slab[slot];
        let (bin, rest) = (record.bin, record.right);
        if self.firsts[usize::from(bin)] != slot {
            self.remove_from_rest(slab, slot);
        } else if rest == NONE {
            self.firsts[usize::from(bin)] = NONE;
            self.occupied.clear(bin);
        } else {
            self.firsts[usize::from(bin)] = treap::take_first(slab, rest);
        }
    }

    /// Whether a block is held rather than in a bin.
    #[inline]
    pub(crate) fn is_held(&self, slot: u32) -> bool {
        self.held == slot
    }

    /// Holds `slot` in the place of the held block, which has become part of it.
    #[inline]
    pub(crate) fn replace_held(&mut self, slot: u32) {
        self.held = slot;
    }

    /// The first block in order whose extent is at least `needed`; [`NONE`] where there is none.
    /// O(log n).
    #[inline(always)]
    pub(crate) fn find(&self, slab: &Slab, needed: u64) -> u32 {
        let held = &slab[self.held];
        // The record that stands for "none" has no extent and so never fits.
        let held_fit = if held.extent >= needed { self.held } else { NONE };
        let Some(bin) = self.occupied.first_from(self.bins.bin(needed)) else {
            return held_fit;
        };
        let found = self.firsts[usize::from(bin)];
        let first = &slab[found];
        if first.extent < needed {
            return self.find_in_mixed_bin(slab, bin, needed);
        }
        if held_fit != NONE && held.key() < first.key() {
            return held_fit;
        }
        found
    }

    /// Takes out the block of a [`find`](Self::find).
    #[inline(always)]
    pub(crate) fn remove_found(&mut self, slab: &mut Slab, slot: u32) {
        if slot == self.held {
            self.held = NONE;
        } else {
            self.remove_binned(slab, slot);
        }
    }

    /// Holds the block of a [`find`](Self::find), taking it out of its bin.
    #[inline(always)]
    pub(crate) fn hold_found(&mut self, slab: &mut Slab, slot: u32) {
        if slot != self.held {
            self.remove_binned(slab, slot);
            self.hold(slab, slot);
        }
    }

    /// The last block in order: the largest. O(log n).
    pub(crate) fn last(&self, slab: &Slab) -> Option<u32> {
        let in_bins = self.occupied.last().map(|bin| {
            let first = self.firsts[usize::from(bin)];
            match slab[first].right {
                NONE => first,
                rest => treap::last(slab, rest),
            }
        });
        let held = Some(self.held).filter(|held| *held != NONE);
        in_bins.into_iter().chain(held).max_by_key(|slot| slab[*slot].key())
    }

    /// Whether a block is where its extent says it is. O(log n), for assertions.
    pub(crate) fn contains(&self, slab: &Slab, slot: u32) -> bool {
        let bin = self.bins.bin(slab[slot].extent);
        let first = self.firsts[usize::from(bin)];
        let is_in_bin = || first == slot || treap::contains(slab, slab[first].right, slot);
        slot == self.held || (self.occupied.get(bin) && is_in_bin())
    }

    /// All blocks, those of the bins in order and the held one last, for checks. O(n).
    pub(crate) fn slots(&self, slab: &Slab) -> Vec<u32> {
        let first = Some(0).filter(|bin| self.occupied.get(*bin)).or_else(|| self.occupied.first_above(0));
        let mut slots = Vec::new();
        for bin in std::iter::successors(first, |bin| self.occupied.first_above(*bin)) {
            let first = self.firsts[usize::from(bin)];
            slots.push(first);
            treap::collect(slab, slab[first].right, &mut slots);
        }
        slots.extend(Some(self.held).filter(|held| *held != NONE));
        slots
    }

    /// Whether [`slots`](Self::slots) come in order, but for the held one, and the bitmap's
    /// summaries agree with its bits, for checks. O(n).
    pub(crate) fn is_in_order(&self, slab: &Slab) -> bool {
        let mut slots = self.slots(slab);
        slots.retain(|slot| *slot != self.held);
        slots.is_sorted_by(|a, b| slab[*a].key() < slab[*b].key()) && self.occupied.summaries_are_true()
    }

    #[inline(always)]
    fn insert_in_bin(&mut self, slab: &mut Slab, slot: u32) {
        let record = &mut slab[slot];
        let bin = self.bins.bin(record.extent);
        record.bin = bin;
        record.left = NONE;
        record.right = NONE;
        let first = self.firsts[usize::from(bin)];
        if first == NONE {
            self.firsts[usize::from(bin)] = slot;
            self.occupied.set(bin);
        } else {
            self.firsts[usize::from(bin)] = insert_beside(slab, first, slot);
        }
    }

    /// Takes out a block that is not the first of its bin.
    #[inline(never)]
    fn remove_from_rest(&mut self, slab: &mut Slab, slot: u32) {
        let first = self.firsts[usize::from(slab[slot].bin)];
        slab[first].right = treap::remove(slab, slab[first].right, slot);
    }

    /// As [`find`](Self::find), where the first occupied bin begins with a block that is too small.
    #[cold]
    fn find_in_mixed_bin(&self, slab: &Slab, bin: u16, needed: u64) -> u32 {
        let first = self.firsts[usize::from(bin)];
        let mut found = treap::first_at_least(slab, slab[first].right, needed);
        if found == NONE
            && let Some(bin) = self.occupied.first_above(bin)
        {
            found = self.firsts[usize::from(bin)];
        }
        let held = &slab[self.held];
        if held.extent >= needed && (found == NONE || held.key() < slab[found].key()) {
            return self.held;
        }
        found
    }
}

/// Adds a block to an occupied bin; returns the bin's first. O(log n), O(1) for a second block.
#[inline(never)]
fn insert_beside(slab: &mut Slab, first: u32, slot: u32) -> u32 {
    let rest = slab[first].right;
    let (head, other) = if slab[slot].key() < slab[first].key() { (slot, first) } else { (first, slot) };
    slab[first].right = NONE;
    slab[head].right = if rest == NONE { other } else { treap::insert(slab, rest, other) };
    head
}
