//! Who holds memory at one moment, by site. Adds up; judges nothing.

use neuronx_mem_replay::SiteId;

use super::Recording;

/// What one site holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SiteTotal {
    /// The site.
    pub site: SiteId,
    /// Block bytes of its live allocations.
    pub block_bytes: u64,
    /// Live allocations.
    pub n_allocations: u64,
}

impl Recording {
    /// What each site holds after an event, most bytes first; sites that hold nothing are left out.
    /// Adds up to the allocated bytes of the timeline. O(allocations born before + sites · log sites).
    #[must_use]
    pub fn top_sites_at(&self, event: u64) -> Vec<SiteTotal> {
        let mut totals = vec![(0_u64, 0_u64); self.sites.len()];
        for id in self.live_at(event) {
            let idx = id.0 as usize;
            let total = &mut totals[self.allocations.sites[idx].index()];
            total.0 = total.0.saturating_add(self.allocations.block_bytes[idx]);
            total.1 += 1;
        }
        let mut rows: Vec<SiteTotal> = self
            .sites
            .ids()
            .zip(totals)
            .filter(|(_, (_, n_allocations))| *n_allocations > 0)
            .map(|(site, (block_bytes, n_allocations))| SiteTotal { site, block_bytes, n_allocations })
            .collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.block_bytes), row.site));
        rows
    }
}
