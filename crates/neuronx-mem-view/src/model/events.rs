//! What each event was, in five bytes. Knows no sums.

use super::allocations::AllocationId;

/// What an event did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum EventKind {
    /// Nothing that is shown, such as a free that is only requested.
    Other,
    /// An allocation.
    Allocate,
    /// A free.
    Free,
    /// A block was recorded on another stream.
    RecordStream,
    /// The device was synchronised.
    Synchronize,
    /// A mark.
    Mark,
    /// A segment came from the runtime, or went back to it.
    Segment,
    /// The device ran out of memory.
    OutOfMemory,
}

/// All events; event `n` stands at `n - 1`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Events {
    /// What each did.
    pub kinds: Vec<EventKind>,
    /// The allocation that it concerns, `u32::MAX` for none.
    pub subjects: Vec<u32>,
}

impl Events {
    /// What an event did; `None` for 0 and beyond the last. O(1).
    #[must_use]
    pub fn kind(&self, event: u64) -> Option<EventKind> {
        self.kinds.get(idx(event)?).copied()
    }

    /// The allocation that an event concerns. O(1).
    #[must_use]
    pub fn subject(&self, event: u64) -> Option<AllocationId> {
        let subject = *self.subjects.get(idx(event)?)?;
        (subject != u32::MAX).then_some(AllocationId(subject))
    }

    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self { kinds: Vec::with_capacity(capacity), subjects: Vec::with_capacity(capacity) }
    }

    pub(super) fn push(&mut self, kind: EventKind, subject: Option<AllocationId>) {
        self.kinds.push(kind);
        self.subjects.push(subject.map_or(u32::MAX, |id| id.0));
    }
}

fn idx(event: u64) -> Option<usize> {
    usize::try_from(event.checked_sub(1)?).ok()
}
