//! One stream: how far its work has been submitted and completed, and the deallocations queued
//! in between. Knows entries by index only.

use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// Tickets given out.
    pub(crate) submitted: u64,
    /// Tickets known complete; never above `submitted`.
    pub(crate) completed: u64,
    /// (ticket it waits for, entry), in order of tickets.
    frees: VecDeque<(u64, u32)>,
    /// Bytes of the blocks queued here.
    pub(crate) pending_bytes: u64,
}

impl Lane {
    /// Whether a deallocation submitted now would run at once.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.completed == self.submitted
    }

    pub(crate) fn n_pending(&self) -> usize {
        self.frees.len()
    }

    /// Queues a deallocation behind all work submitted so far.
    pub(crate) fn push(&mut self, entry: u32, bytes: u64) {
        self.frees.push_back((self.submitted, entry));
        self.pending_bytes += bytes;
    }

    /// Takes the oldest deallocation that `is_wanted`, wherever it stands. O(queued).
    pub(crate) fn take(&mut self, mut is_wanted: impl FnMut(u32) -> bool) -> Option<u32> {
        let position = self.frees.iter().position(|(_, entry)| is_wanted(*entry))?;
        self.frees.remove(position).map(|(_, entry)| entry)
    }

    /// The next deallocation whose work is complete.
    #[inline]
    pub(crate) fn pop_ready(&mut self) -> Option<u32> {
        let (ticket, entry) = *self.frees.front()?;
        if ticket > self.completed {
            return None;
        }
        self.frees.pop_front();
        Some(entry)
    }
}
