//! The free blocks of one pool in best-fit order: bins by size under a bitmap, a treap in each
//! bin, and one block held beside them. Holds links in the block records, so it never allocates.
//! Decides order, not placement.

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
pub(crate) struct FreeIndex<B> {
    bins: B,
    held: u32,
    /// The tree of each bin; pages of bins that are never used are never touched.
    roots: Box<[u32; N_BINS]>,
    occupied: Bitmap,
}

const N_BINS: usize = 1 << 16;

/// A block found by [`FreeIndex::find`], with what is needed to take it out in O(log n).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) slot: u32,
    /// Its parent in the tree of `bin`; [`NONE`] for the root. Without meaning for the held block.
    parent: u32,
    bin: u16,
}

impl<B: SizeBins> FreeIndex<B> {
    pub(crate) fn new(bins: B) -> Self {
        let zeroed = vec![NONE; N_BINS].into_boxed_slice();
        let roots = zeroed.try_into().unwrap_or_else(|_| Box::new([NONE; N_BINS]));
        Self { bins, held: NONE, roots, occupied: Bitmap::new() }
    }

    /// Adds a free block. O(log n) of its bin, O(1) for an empty bin.
    #[inline]
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
    #[inline]
    pub(crate) fn remove(&mut self, slab: &mut Slab, slot: u32) {
        if slot == self.held {
            self.held = NONE;
            return;
        }
        let record = &slab[slot];
        let bin = self.bins.bin(record.extent);
        let is_alone = record.left | record.right == NONE && self.roots[usize::from(bin)] == slot;
        if is_alone {
            self.roots[usize::from(bin)] = NONE;
            self.occupied.clear(bin);
            return;
        }
        let parent = treap::parent(slab, self.roots[usize::from(bin)], slot);
        self.remove_from_bin(slab, Found { slot, parent, bin });
    }

    /// The first block in order whose extent is at least `needed`. O(log n).
    #[inline]
    pub(crate) fn find(&self, slab: &Slab, needed: u64) -> Option<Found> {
        // The record that stands for "none" has no extent and so never fits.
        let held_extent = slab[self.held].extent;
        let is_held_fit = held_extent >= needed;
        let start = self.bins.bin(needed);
        let Some(bin) = self.occupied.first_from(start) else {
            return if is_held_fit { Some(self.found_held()) } else { None };
        };
        if is_held_fit && self.bins.bin(held_extent) < bin {
            return Some(self.found_held());
        }
        if bin == start && !self.bins.bin_fits(bin) {
            return self.find_in_mixed_bin(slab, bin, needed);
        }
        let found = first_of(slab, self.roots[usize::from(bin)], bin);
        if is_held_fit && slab[self.held].key() < slab[found.slot].key() {
            return Some(self.found_held());
        }
        Some(found)
    }

    /// Takes out the block of a [`find`](Self::find); nothing may have changed in between.
    #[inline]
    pub(crate) fn remove_found(&mut self, slab: &mut Slab, found: Found) {
        if found.slot == self.held {
            self.held = NONE;
        } else {
            self.remove_from_bin(slab, found);
        }
    }

    /// Holds the block of a [`find`](Self::find), taking it out of its bin.
    #[inline]
    pub(crate) fn hold_found(&mut self, slab: &mut Slab, found: Found) {
        if found.slot != self.held {
            self.remove_from_bin(slab, found);
            self.hold(slab, found.slot);
        }
    }

    /// The last block in order: the largest. O(log n).
    pub(crate) fn last(&self, slab: &Slab) -> Option<u32> {
        let in_bins = self.occupied.last().map(|bin| treap::last(slab, self.roots[usize::from(bin)]));
        let held = Some(self.held).filter(|held| *held != NONE);
        in_bins.into_iter().chain(held).max_by_key(|slot| slab[*slot].key())
    }

    /// Whether a block is where its extent says it is. O(log n), for assertions.
    pub(crate) fn contains(&self, slab: &Slab, slot: u32) -> bool {
        let bin = self.bins.bin(slab[slot].extent);
        let is_in_bin = || treap::contains(slab, self.roots[usize::from(bin)], slot);
        slot == self.held || (self.occupied.get(bin) && is_in_bin())
    }

    /// All blocks, those of the bins in order and the held one last, for checks. O(n).
    pub(crate) fn slots(&self, slab: &Slab) -> Vec<u32> {
        let first = Some(0).filter(|bin| self.occupied.get(*bin)).or_else(|| self.occupied.first_above(0));
        let mut slots = Vec::new();
        for bin in std::iter::successors(first, |bin| self.occupied.first_above(*bin)) {
            treap::collect(slab, self.roots[usize::from(bin)], &mut slots);
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

    #[inline]
    fn insert_in_bin(&mut self, slab: &mut Slab, slot: u32) {
        let record = &mut slab[slot];
        let bin = self.bins.bin(record.extent);
        let root = self.roots[usize::from(bin)];
        if root == NONE {
            record.left = NONE;
            record.right = NONE;
            self.roots[usize::from(bin)] = slot;
            self.occupied.set(bin);
            return;
        }
        self.roots[usize::from(bin)] = treap::insert(slab, root, slot);
    }

    #[inline]
    fn remove_from_bin(&mut self, slab: &mut Slab, found: Found) {
        let Found { slot, parent, bin } = found;
        let record = &slab[slot];
        let is_leaf = record.left | record.right == NONE;
        let heir = if is_leaf { NONE } else { treap::heir(slab, slot) };
        if parent != NONE {
            treap::replace_child(slab, parent, slot, heir);
            return;
        }
        self.roots[usize::from(bin)] = heir;
        if heir == NONE {
            self.occupied.clear(bin);
        }
    }

    /// As [`find`](Self::find), where the first occupied bin may hold blocks that are too small.
    #[cold]
    fn find_in_mixed_bin(&self, slab: &Slab, bin: u16, needed: u64) -> Option<Found> {
        let here = treap::first_at_least(slab, self.roots[usize::from(bin)], needed);
        let found = match here {
            Some((slot, parent)) => Some(Found { slot, parent, bin }),
            None => {
                self.occupied.first_above(bin).map(|bin| first_of(slab, self.roots[usize::from(bin)], bin))
            }
        };
        let held = &slab[self.held];
        if held.extent >= needed && found.is_none_or(|found| held.key() < slab[found.slot].key()) {
            return Some(self.found_held());
        }
        found
    }

    #[inline]
    fn found_held(&self) -> Found {
        Found { slot: self.held, parent: NONE, bin: 0 }
    }
}

/// The first block of an occupied bin.
#[inline]
fn first_of(slab: &Slab, root: u32, bin: u16) -> Found {
    let (slot, parent) = if slab[root].left == NONE { (root, NONE) } else { treap::first(slab, root) };
    Found { slot, parent, bin }
}
