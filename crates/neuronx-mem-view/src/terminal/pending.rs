//! Blocks that were freed and whose memory is not back yet, because a stream still uses it. Knows only
//! what a replay notes; a snapshot does not say which event asked for a free.

use crate::{AllocationId, EventKind, Recording};

/// Free requests that were not served at once, by allocation.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    /// In order of allocation.
    requests: Vec<(AllocationId, u64)>,
}

impl Pending {
    /// O(events), once.
    pub(super) fn of(recording: &Recording) -> Self {
        let events = &recording.events;
        let mut requests: Vec<(AllocationId, u64)> = Vec::new();
        for ((event, kind), subject) in (1_u64..).zip(&events.kinds).zip(&events.subjects) {
            let death = if *kind == EventKind::Free {
                recording.allocations.deaths.get(*subject as usize)
            } else {
                None
            };
            if death.is_some_and(|death| *death > event) {
                requests.push((AllocationId(*subject), event));
            }
        }
        requests.sort_unstable();
        Self { requests }
    }

    /// The event that asked to free an allocation, where it had to wait. O(log requests).
    pub(super) fn request(&self, id: AllocationId) -> Option<u64> {
        let idx = self.requests.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.requests[idx].1)
    }

    /// Whether it waits at an event that leaves it live.
    pub(super) fn is_waiting(&self, id: AllocationId, event: u64) -> bool {
        self.request(id).is_some_and(|request| request <= event)
    }
}
