//! The sequence lock: a number that lets readers see several values as they were at one moment.
//! Knows one writer at a time and any number of readers; refuses to know what the values are.

use crate::primitive::{AtomicU64, Backoff, Ordering, fence};

/// Counts the writer's steps. Readers take no lock; the writer never waits.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    /// Odd while the writer is between two consistent states. Written by the writer only.
    number: AtomicU64,
}

/// A step of the writer that has begun, with the even number it began at.
#[must_use]
pub(crate) struct Step(u64);

impl Sequence {
    /// Runs the writer's stores as one step for readers. Only one thread may write at a time.
    #[inline(always)]
    pub(crate) fn write(&self, stores: impl FnOnce()) {
        let step = self.begin();
        stores();
        self.end(step);
    }

    /// Opens a step of the writer.
    #[inline(always)]
    pub(crate) fn begin(&self) -> Step {
        let number = self.number.load(Ordering::Relaxed);
        self.number.store(number.wrapping_add(1), Ordering::Relaxed);
        // The odd number must be visible before any of the stores.
        fence(Ordering::Release);
        Step(number)
    }

    /// Closes a step of the writer.
    #[inline(always)]
    pub(crate) fn end(&self, step: Step) {
        // All of the stores must be visible before the even number.
        self.number.store(step.0.wrapping_add(2), Ordering::Release);
    }

    /// Reads until no writer came in between.
    pub(crate) fn read<T>(&self, loads: impl Fn() -> T) -> T {
        let backoff = Backoff::new();
        loop {
            if let Some(values) = self.try_read(&loads) {
                return values;
            }
            backoff.snooze();
        }
    }

    /// Reads once; `None` when a writer was there or came in between.
    pub(crate) fn try_read<T>(&self, loads: impl Fn() -> T) -> Option<T> {
        let before = self.number.load(Ordering::Acquire);
        if !before.is_multiple_of(2) {
            return None;
        }
        let values = loads();
        // The loads must be done before the number is looked at again.
        fence(Ordering::Acquire);
        (self.number.load(Ordering::Relaxed) == before).then_some(values)
    }
}
