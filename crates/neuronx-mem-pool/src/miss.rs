//! Why a search found nothing: the free block that came closest, and the rule that refused it.
//! Explains; changes nothing.

use crate::block::NONE;
use crate::{BlockId, BlockView, PoolKind, Request, SegmentPool};

/// The rule that kept a free block from serving a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissReason {
    /// Above `kMaxSplitSizeBytes`, so it may not be split, and larger than the request by more
    /// than `kMaxNonSplitRoundingBytes`.
    NotSplittable {
        /// Bytes by which the block exceeds the request.
        excess_bytes: u64,
        /// The tolerance it exceeds.
        tolerance_bytes: u64,
    },
    /// Large enough, but in the other pool.
    OtherPool {
        /// The pool that the block belongs to.
        pool: PoolKind,
    },
    /// The largest of its pool, and still too small.
    TooSmall {
        /// Bytes that are lacking.
        short_bytes: u64,
    },
}

/// The free block that came closest to serving a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearestMiss {
    /// The block.
    pub id: BlockId,
    /// Its first address.
    pub address: u64,
    /// Bytes that it occupies.
    pub extent_bytes: u64,
    /// Why it did not serve.
    pub reason: MissReason,
}

impl SegmentPool {
    /// The free block that came closest to serving `request`, and the rule that refused it.
    ///
    /// A block that is large enough but refused comes before one of the other pool, and that
    /// before one that is too small. `None` when the request would be served, or no block is
    /// free. O(log n).
    #[must_use]
    pub fn nearest_miss(&self, request: &Request) -> Option<NearestMiss> {
        if let Some(slot) = self.first_fit_slot(request.kind(), request) {
            return self.refused_here(slot, request);
        }
        let other = match request.kind() {
            PoolKind::Small => PoolKind::Large,
            PoolKind::Large => PoolKind::Small,
        };
        if let Some(slot) = self.first_fit_slot(other, request) {
            return Some(self.miss(slot, MissReason::OtherPool { pool: other }));
        }
        let slot = self.last_slot(request.kind())?;
        let short_bytes = request.extent - self.slab[slot].extent;
        Some(self.miss(slot, MissReason::TooSmall { short_bytes }))
    }

    /// Bytes of the largest free block of a pool; 0 when it has none. O(log n).
    #[must_use]
    pub fn largest_free_bytes(&self, kind: PoolKind) -> u64 {
        self.last_slot(kind).map_or(0, |slot| self.slab[slot].extent)
    }

    /// The largest free block of a pool. O(log n).
    #[must_use]
    pub fn largest_free(&self, kind: PoolKind) -> Option<BlockView> {
        self.last_slot(kind).map(|slot| self.block_view(slot))
    }

    fn refused_here(&self, slot: u32, request: &Request) -> Option<NearestMiss> {
        let extent = self.slab[slot].extent;
        if self.policy.admits(extent, request.extent) {
            return None;
        }
        let reason = MissReason::NotSplittable {
            excess_bytes: extent - request.extent,
            tolerance_bytes: self.policy.max_non_split_rounding_bytes(),
        };
        Some(self.miss(slot, reason))
    }

    fn miss(&self, slot: u32, reason: MissReason) -> NearestMiss {
        let block = self.block_view(slot);
        NearestMiss { id: block.id, address: block.address, extent_bytes: block.extent_bytes, reason }
    }

    fn first_fit_slot(&self, kind: PoolKind, request: &Request) -> Option<u32> {
        let found = match kind {
            PoolKind::Small => self.small.find(&self.slab, request.extent),
            PoolKind::Large => self.large.find(&self.slab, request.extent),
        };
        Some(found).filter(|slot| *slot != NONE)
    }

    fn last_slot(&self, kind: PoolKind) -> Option<u32> {
        match kind {
            PoolKind::Small => self.small.last(&self.slab),
            PoolKind::Large => self.large.last(&self.slab),
        }
    }
}
