//! Page-cache pressure: memory filled with single pages of files, of which some are evicted again.

use super::pages::PageState;
use super::random::Random;
use super::zone::{Kind, Zone};
use crate::PageOrder;

/// How much is read, and how much of it goes again.
///
/// The kernel keeps what was read until memory runs short and then evicts pages here and there, in the
/// order of their use and not of their addresses. So much memory is free, and none of it contiguous. A few
/// pages in between belong to the kernel itself and can be neither evicted nor moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageCachePressure {
    /// Where the numbers start; the same seed gives the same layout.
    pub seed: u64,
    /// Of 1000 pages of cache, how many are evicted again.
    pub evicted_per_mille: u32,
    /// Of 1000 pages that are taken, how many belong to the kernel for good.
    pub unmovable_per_mille: u32,
}

impl PageCachePressure {
    /// Makes a pressure of which a third is evicted again, and which pins no page for good.
    #[must_use]
    pub const fn with_seed(seed: u64) -> Self {
        Self { seed, evicted_per_mille: 333, unmovable_per_mille: 0 }
    }

    /// Sets how many of 1000 pages of cache are evicted again.
    #[must_use]
    pub const fn with_evicted_per_mille(mut self, parts: u32) -> Self {
        self.evicted_per_mille = parts;
        self
    }

    /// Sets how many of 1000 pages belong to the kernel for good.
    #[must_use]
    pub const fn with_unmovable_per_mille(mut self, parts: u32) -> Self {
        self.unmovable_per_mille = parts;
        self
    }
}

pub(super) fn apply(zones: &mut [Zone], pressure: &PageCachePressure) {
    let mut random = Random::new(pressure.seed);
    let single = PageOrder::new(0).unwrap_or(PageOrder::MAX);
    for zone in zones {
        loop {
            let is_pinned = random.is_in(pressure.unmovable_per_mille);
            let kind = if is_pinned { Kind::Unmovable } else { Kind::Cache };
            if zone.take(single, kind).is_none() {
                break;
            }
        }
        for page in 0..zone.n_pages() {
            if zone.state(page) == PageState::Held(Kind::Cache, single)
                && random.is_in(pressure.evicted_per_mille)
            {
                zone.give_back(page, single);
            }
        }
    }
}
