//! The free blocks of one pool in best-fit order: bins by size under a bitmap, a treap in each
//! bin. Holds links in the block records, so it never allocates. Decides order, not placement.

pub(crate) mod bins;
mod bitmap;
mod treap;

pub(crate) use bins::{ClassBins, ExactBins, SizeBins};

use crate::block::NONE;
use crate::slab::Slab;
use bitmap::Bitmap;
use treap::Seat;

/// Free blocks ordered by (extent, segment age, offset).
pub(crate) struct FreeIndex<B> {
    bins: B,
    roots: Vec<u32>,
    occupied: Bitmap,
}

/// A block found by [`FreeIndex::find`], with what is needed to take it out in O(log n).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) slot: u32,
    bin: usize,
    seat: Seat,
}

impl<B: SizeBins> FreeIndex<B> {
    pub(crate) fn new(bins: B) -> Self {
        let n_bins = bins.n_bins();
        Self { bins, roots: vec![NONE; n_bins], occupied: Bitmap::new(n_bins) }
    }

    /// Adds a free block. O(log n) of its bin, O(1) for an empty bin.
    #[inline]
    pub(crate) fn insert(&mut self, slab: &mut Slab, slot: u32) {
        let bin = self.bins.bin(slab[slot].extent);
        let root = self.roots[bin];
        if root == NONE {
            let record = &mut slab[slot];
            record.left = NONE;
            record.right = NONE;
            self.roots[bin] = slot;
            self.occupied.set(bin);
            return;
        }
        self.roots[bin] = treap::insert(slab, root, slot);
    }

    /// Takes out a block that is in the index. O(log n) of its bin.
    #[inline]
    pub(crate) fn remove(&mut self, slab: &mut Slab, slot: u32) {
        let bin = self.bins.bin(slab[slot].extent);
        let seat = treap::seat(slab, self.roots[bin], slot);
        self.remove_found(slab, Found { slot, bin, seat });
    }

    /// The first block in order whose extent is at least `needed`. O(log n).
    #[inline]
    pub(crate) fn find(&self, slab: &Slab, needed: u64) -> Option<Found> {
        let bin = self.bins.bin(needed);
        let root = self.roots[bin];
        if root != NONE {
            let hit = if self.bins.bin_fits(bin) {
                Some(treap::first(slab, root))
            } else {
                treap::first_at_least(slab, root, needed)
            };
            if let Some((slot, seat)) = hit {
                return Some(Found { slot, bin, seat });
            }
        }
        let bin = self.occupied.first_above(bin)?;
        let (slot, seat) = treap::first(slab, self.roots[bin]);
        Some(Found { slot, bin, seat })
    }

    /// Takes out the block of a [`find`](Self::find); nothing may have changed in between.
    #[inline]
    pub(crate) fn remove_found(&mut self, slab: &mut Slab, found: Found) {
        let heir = treap::heir(slab, found.slot);
        match found.seat {
            Seat::Root => {
                self.roots[found.bin] = heir;
                if heir == NONE {
                    self.occupied.clear(found.bin);
                }
            }
            Seat::Left(parent) => slab[parent].left = heir,
            Seat::Right(parent) => slab[parent].right = heir,
        }
    }

    /// The last block in order: the largest. O(log n).
    pub(crate) fn last(&self, slab: &Slab) -> Option<u32> {
        let bin = self.occupied.last()?;
        Some(treap::last(slab, self.roots[bin]))
    }

    /// Whether a block is where its extent says it is. O(log n), for assertions.
    pub(crate) fn contains(&self, slab: &Slab, slot: u32) -> bool {
        let bin = self.bins.bin(slab[slot].extent);
        self.occupied.get(bin) && treap::contains(slab, self.roots[bin], slot)
    }

    /// All blocks in order, for checks. O(n).
    pub(crate) fn slots(&self, slab: &Slab) -> Vec<u32> {
        let mut slots = Vec::new();
        for root in self.roots.iter().copied().filter(|root| *root != NONE) {
            treap::collect(slab, root, &mut slots);
        }
        slots
    }

    /// Whether every bin's bit tells the truth, for checks. O(bins).
    pub(crate) fn bitmap_is_true(&self) -> bool {
        (0..self.roots.len()).all(|bin| self.occupied.get(bin) == (self.roots[bin] != NONE))
            && self.occupied.summaries_are_true()
    }
}
