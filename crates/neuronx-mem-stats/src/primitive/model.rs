//! The same names over the model checker's atomics. Waiting lets another thread go on: without
//! that a checker would explore endless retries.

pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};

/// Waits for whoever is writing.
#[derive(Debug, Default)]
pub(crate) struct Backoff;

impl Backoff {
    pub(crate) fn new() -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "the shape of the real one")]
    pub(crate) fn snooze(&self) {
        loom::thread::yield_now();
    }
}
