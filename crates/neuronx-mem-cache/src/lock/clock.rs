//! Time, as waiting sees it. A test brings its own.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

/// A clock that can also wait.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Time since some fixed moment. Never goes back.
    fn now(&self) -> Duration;

    /// Lets this much time pass.
    fn sleep(&self, time: Duration);
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// Starts at 0 now.
    #[must_use]
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    // The only real wait of this crate: the back-off between two attempts at a lock that another
    // process holds. `flock` with a timeout does not exist, so there is nothing to block on.
    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }
}
