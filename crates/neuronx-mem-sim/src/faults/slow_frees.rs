//! Memory of freed segments that takes its time to come back. Knows when, not whose it was.

use std::collections::VecDeque;
use std::ops::Range;

use super::pattern::{FaultSpan, Moment};

/// A freed segment on its way back.
#[derive(Debug)]
pub(crate) struct SlowFree {
    freed_at: Moment,
    pub(crate) range: Range<u64>,
    pub(crate) bytes: u64,
}

/// Frees in the order in which they were made; all take the same time, so the first is due first.
#[derive(Debug, Default)]
pub(crate) struct SlowFrees {
    delay: Option<FaultSpan>,
    queue: VecDeque<SlowFree>,
}

impl SlowFrees {
    pub(crate) fn new(delay: Option<FaultSpan>) -> Self {
        Self { delay, queue: VecDeque::new() }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.delay.is_some()
    }

    pub(crate) fn push(&mut self, freed_at: Moment, range: Range<u64>, bytes: u64) {
        self.queue.push_back(SlowFree { freed_at, range, bytes });
    }

    /// The next one that is back at `now`.
    pub(crate) fn pop_due(&mut self, now: Moment) -> Option<SlowFree> {
        let delay = self.delay?;
        self.queue.pop_front_if(|first| delay.is_over(first.freed_at, now))
    }

    /// The next one, back or not.
    pub(crate) fn pop(&mut self) -> Option<SlowFree> {
        self.queue.pop_front()
    }
}
