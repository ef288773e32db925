//! How long to wait for a lock, and how often to ask.

use std::time::Duration;

/// How long the lock of a key is waited for unless set otherwise, the default of
/// `TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT`.
pub const DEFAULT_LOCK_TIMEOUT: Duration = Duration::from_secs(1200);

/// How a lock is waited for: asked for at once, then after pauses that double.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockOptions {
    /// When to give up. Zero asks once.
    pub timeout: Duration,
    /// The first pause.
    pub first_pause: Duration,
    /// The longest pause: the most that passes between a holder's death and the next holder.
    pub longest_pause: Duration,
}

impl LockOptions {
    /// Waits this long, with pauses from 10 ms to half a second.
    #[must_use]
    pub const fn new(timeout: Duration) -> Self {
        Self { timeout, first_pause: Duration::from_millis(10), longest_pause: Duration::from_millis(500) }
    }

    /// Sets the pauses.
    #[must_use]
    pub const fn with_pauses(mut self, first: Duration, longest: Duration) -> Self {
        self.first_pause = first;
        self.longest_pause = longest;
        self
    }

    /// The pause after this many others, cut to what is left of the timeout; `None` when nothing is.
    pub(super) fn pause(&self, n_pauses: u32, waited: Duration) -> Option<Duration> {
        let left = self.timeout.checked_sub(waited).filter(|left| !left.is_zero())?;
        let factor = 2u32.checked_pow(n_pauses).unwrap_or(u32::MAX);
        // A pause of nothing would ask without end and without rest.
        let first = self.first_pause.max(Duration::from_micros(1));
        Some(first.saturating_mul(factor).min(self.longest_pause.max(first)).min(left))
    }
}

impl Default for LockOptions {
    fn default() -> Self {
        Self::new(DEFAULT_LOCK_TIMEOUT)
    }
}
