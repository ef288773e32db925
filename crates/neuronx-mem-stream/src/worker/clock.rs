//! Where the time of timed events comes from. Nothing else in the worker reads a clock.

use std::fmt;
use std::time::Instant;

/// A clock that never goes back.
pub trait Clock: Send + Sync {
    /// Nanoseconds since a moment of the clock's choice.
    fn now_ns(&self) -> u64;
}

/// The system's monotonic clock, counted from when it was made.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    start: Instant,
}

impl MonotonicClock {
    /// Starts counting.
    #[must_use]
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for MonotonicClock {
    fn now_ns(&self) -> u64 {
        // 2^64 ns are 584 years.
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl fmt::Debug for dyn Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
