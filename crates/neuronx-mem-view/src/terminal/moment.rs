//! What memory holds after one event, as far as the filter lets it be seen. Knows no screen.

use super::filter::Filter;
use super::pending::Pending;
use crate::{AllocationId, Recording, SegmentOnMap, SiteTotal};

/// Memory after one event.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    /// Segments in order of address, whatever the filter.
    pub(super) map: Vec<SegmentOnMap>,
    /// What passes the filter.
    pub(super) top: Top,
}

/// Who holds what passes the filter.
#[derive(Clone, Debug, Default)]
pub(super) struct Top {
    /// By site, most bytes first.
    pub(super) rows: Vec<SiteTotal>,
    /// Block bytes of all rows.
    pub(super) block_bytes: u64,
    /// Allocations of all rows.
    pub(super) n_allocations: u64,
}

/// How a block is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BlockState {
    /// Live, but the filter looks at others.
    Other,
    /// Freed, and its memory is not back yet.
    Pending,
    /// Live.
    Live,
    /// The selected one.
    Selected,
}

impl Moment {
    /// O(allocations born before · log segments).
    pub(super) fn at(recording: &Recording, event: u64, filter: &Filter) -> Self {
        Self { map: recording.map_at(event), top: Top::at(recording, event, filter) }
    }
}

impl Top {
    /// O(allocations born before + sites · log sites).
    pub(super) fn at(recording: &Recording, event: u64, filter: &Filter) -> Self {
        let mut rows = if filter.is_all() {
            recording.top_sites_at(event)
        } else {
            let mut totals: Vec<_> = recording
                .sites
                .ids()
                .map(|site| SiteTotal { site, block_bytes: 0, n_allocations: 0 })
                .collect();
            for id in recording.live_at(event).filter(|id| filter.passes(recording, *id)) {
                let total = &mut totals[recording.allocations.sites[id.0 as usize].index()];
                total.block_bytes += recording.allocations.block_bytes[id.0 as usize];
                total.n_allocations += 1;
            }
            totals.retain(|row| row.n_allocations > 0);
            totals
        };
        rows.sort_by_key(|row| (std::cmp::Reverse(row.block_bytes), row.site));
        let block_bytes = rows.iter().map(|row| row.block_bytes).sum();
        let n_allocations = rows.iter().map(|row| row.n_allocations).sum();
        Self { rows, block_bytes, n_allocations }
    }
}

/// How an allocation that is live at an event is shown. O(log free requests).
pub(super) fn state_of(
    recording: &Recording,
    id: AllocationId,
    event: u64,
    filter: &Filter,
    pending: &Pending,
    selected: Option<AllocationId>,
) -> BlockState {
    if selected == Some(id) {
        BlockState::Selected
    } else if !filter.passes(recording, id) {
        BlockState::Other
    } else if pending.is_waiting(id, event) {
        BlockState::Pending
    } else {
        BlockState::Live
    }
}
