//! Replays a history to the blocks that live at its end. Knows that `alloc` begins a life and
//! `free_completed` ends it; refuses to guess what happened before the history began.

use std::collections::BTreeMap;

use crate::model::{Action, Snapshot};

/// What a replay ends with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveBlocks {
    /// Requested bytes of each live block by its address.
    pub requested_bytes: BTreeMap<u64, u64>,
    /// Frees of addresses that were never allocated: the history is not complete.
    pub n_unmatched_frees: u64,
    /// Allocations of addresses that were still live: events are missing.
    pub n_repeated_allocs: u64,
}

impl LiveBlocks {
    /// Whether every event matched, as it does when the history began before the first allocation
    /// and no event was dropped or skipped.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        self.n_unmatched_frees == 0 && self.n_repeated_allocs == 0
    }
}

impl Snapshot {
    /// Replays a device's `alloc` and `free_completed` events.
    ///
    /// For a complete history the result equals the set of blocks that are not inactive (PyTorch
    /// snapshot schema §5). Cost: O(events · log blocks).
    #[must_use]
    pub fn replay_live_blocks(&self, device_idx: usize) -> LiveBlocks {
        let mut live = LiveBlocks::default();
        for entry in self.trace(device_idx) {
            let Some(addr) = entry.addr() else { continue };
            match entry.action() {
                Action::Alloc => {
                    let requested_bytes = entry.size_bytes().unwrap_or(0);
                    // A request of 0 bytes gets the null address and no block.
                    if addr != 0 && live.requested_bytes.insert(addr, requested_bytes).is_some() {
                        live.n_repeated_allocs += 1;
                    }
                }
                Action::FreeCompleted => {
                    let is_unmatched = addr != 0 && live.requested_bytes.remove(&addr).is_none();
                    live.n_unmatched_frees += u64::from(is_unmatched);
                }
                _ => {}
            }
        }
        live
    }
}
