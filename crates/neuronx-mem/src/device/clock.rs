//! The time of events: Unix microseconds from the time-stamp counter, set by the system's clock
//! once. Knows how to convert ticks; keeps no time of its own and is not read with the history off.

use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// Tells the time of events, in microseconds.
pub(crate) type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Unix time in microseconds, as PyTorch's snapshots have it.
///
/// Read from the time-stamp counter where there is a steady one: the system's clock costs twice as
/// much, several times an event. The counter's rate is found out at the first reading, which takes
/// milliseconds that a program without a history never spends.
pub(crate) fn wall_clock() -> Clock {
    let counter = OnceLock::new();
    Arc::new(move || counter.get_or_init(Counter::new).now_us())
}

/// A started counter.
struct Counter {
    ticks: quanta::Clock,
    start: u64,
    start_us: u64,
    /// Microseconds a tick, times 2^64: one multiplication converts.
    us_per_tick: u64,
}

impl Counter {
    fn new() -> Self {
        // About five minutes of ticks: their length in nanoseconds has eleven exact digits.
        const MANY_TICKS: u64 = 1 << 40;
        let ticks = quanta::Clock::new();
        let start = ticks.raw();
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let nanos = u128::from(ticks.delta_as_nanos(0, MANY_TICKS));
        let us_per_tick = (nanos << 64) / (u128::from(MANY_TICKS) * 1000);
        Self {
            ticks,
            start,
            start_us: u64::try_from(since_epoch.as_micros()).unwrap_or(u64::MAX),
            // A tick is shorter than a microsecond wherever there is a counter at all.
            us_per_tick: u64::try_from(us_per_tick).unwrap_or(u64::MAX),
        }
    }

    #[inline]
    fn now_us(&self) -> u64 {
        // Counters of different cores may differ by some ticks; time stands still then.
        let ticks = self.ticks.raw().saturating_sub(self.start);
        self.start_us.saturating_add(microseconds(ticks, self.us_per_tick))
    }
}

#[inline]
fn microseconds(ticks: u64, us_per_tick: u64) -> u64 {
    let us = (u128::from(ticks) * u128::from(us_per_tick)) >> 64;
    u64::try_from(us).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Counter, microseconds};

    #[test]
    fn a_tick_of_a_nanosecond() {
        let us_per_tick = u64::MAX / 1000 + 1;
        assert_eq!([0, 999, 1000, 2_000_000].map(|t| microseconds(t, us_per_tick)), [0, 0, 1, 2000]);
        // A year, to the microsecond.
        assert_eq!(microseconds(31_536_000_000_000_000, us_per_tick), 31_536_000_000_000);
    }

    #[test]
    fn the_rate_is_that_of_the_counter() {
        let counter = Counter::new();
        for ticks in [1_000_000, 1 << 32, 1 << 45] {
            let exact_us = counter.ticks.delta_as_nanos(0, ticks) / 1000;
            let ours = microseconds(ticks, counter.us_per_tick);
            assert!(ours.abs_diff(exact_us) <= 1 + exact_us / 1_000_000_000, "{ours} for {exact_us}");
        }
    }
}
