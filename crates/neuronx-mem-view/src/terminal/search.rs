//! The next place that a text names: a mark, an out-of-memory error, an allocation by its stack, its
//! address or its trace id. Knows no screen.

use super::filter::haystack;
use crate::{AllocationId, Recording};

/// A text that is looked for, worked out for one recording.
#[derive(Clone, Debug)]
pub(super) struct Search {
    text: String,
    /// In small letters.
    needle: String,
    sites: Vec<bool>,
    /// An address, `0x…`, or a trace id.
    number: Option<u64>,
}

/// A place that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) event: u64,
    /// `None` for a mark.
    pub(super) id: Option<AllocationId>,
}

impl Search {
    /// O(bytes of all stacks).
    pub(super) fn new(text: &str, recording: &Recording) -> Self {
        let needle = text.trim().to_lowercase();
        let number = match needle.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => needle.parse().ok(),
        };
        let sites =
            recording.sites.ids().map(|site| haystack(&recording.sites, site).contains(&needle)).collect();
        Self { text: text.trim().to_owned(), needle, sites, number }
    }

    /// As it was typed.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The first place after an event and an allocation born with it. O(allocations + marks).
    pub(super) fn next(&self, recording: &Recording, from: Found) -> Option<Found> {
        let key = |found: &Found| (found.event, found.id);
        let births = &recording.allocations.births;
        let start = births.partition_point(|birth| *birth < from.event);
        let mut allocations = (start..births.len()).filter_map(|idx| self.allocation(recording, idx));
        let allocation = allocations.find(|found| key(found) > key(&from));
        let mark = self.marks(recording).filter(|found| key(found) > key(&from)).min_by_key(key);
        allocation.into_iter().chain(mark).min_by_key(key)
    }

    /// The last place before an event and an allocation born with it. O(allocations + marks).
    pub(super) fn previous(&self, recording: &Recording, from: Found) -> Option<Found> {
        let key = |found: &Found| (found.event, found.id);
        let births = &recording.allocations.births;
        let end = births.partition_point(|birth| *birth <= from.event);
        let mut allocations = (0..end).rev().filter_map(|idx| self.allocation(recording, idx));
        let allocation = allocations.find(|found| key(found) < key(&from));
        let mark = self.marks(recording).filter(|found| key(found) < key(&from)).max_by_key(key);
        allocation.into_iter().chain(mark).max_by_key(key)
    }

    fn allocation(&self, recording: &Recording, idx: usize) -> Option<Found> {
        let all = &recording.allocations;
        let is_it = self.sites[all.sites[idx].index()]
            || self.number.is_some_and(|number| {
                let is_inside =
                    number.checked_sub(all.addresses[idx]).is_some_and(|at| at < all.block_bytes[idx]);
                is_inside || (number != 0 && all.trace_ids.get(idx) == Some(&number))
            });
        let id = AllocationId(u32::try_from(idx).ok()?);
        is_it.then_some(Found { event: all.births[idx], id: Some(id) })
    }

    fn marks<'r>(&'r self, recording: &'r Recording) -> impl Iterator<Item = Found> + 'r {
        let marks = recording.marks.iter().map(|mark| (mark.event, mark.label.to_lowercase()));
        let ooms = recording
            .ooms
            .iter()
            .map(|oom| (oom.event, format!("oom out of memory {}", oom.message.to_lowercase())));
        let named = marks.chain(ooms).filter(|(_, label)| label.contains(&self.needle));
        named.map(|(event, _)| Found { event, id: None })
    }
}
