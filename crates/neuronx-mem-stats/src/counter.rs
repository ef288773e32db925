//! One counter by pool, written by one thread at a time and read by any. Loads and stores only:
//! a read-modify-write costs several times as much and buys nothing with a single writer.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::Values;

/// A value that has one writer at a time.
#[derive(Debug, Default)]
pub(crate) struct Cell(AtomicU64);

impl Cell {
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    #[inline]
    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    #[inline]
    pub(crate) fn add(&self, value: u64) -> u64 {
        let sum = self.get().wrapping_add(value);
        self.set(sum);
        sum
    }

    #[inline]
    pub(crate) fn subtract(&self, value: u64) {
        self.set(self.get().wrapping_sub(value));
    }

    #[inline]
    pub(crate) fn raise_to(&self, value: u64) {
        if value > self.get() {
            self.set(value);
        }
    }
}

/// Current and peak; for one pool also what has come in since the start, from which what has
/// gone out follows.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    current: Cell,
    peak: Cell,
    total_in: Cell,
    /// `total_in` at the last reset of accumulated values.
    base_in: Cell,
    /// `total_in - current` at that moment.
    base_out: Cell,
}

impl Gauge {
    #[inline]
    pub(crate) fn increase(&self, by: u64) {
        self.total_in.add(by);
        let current = self.current.add(by);
        self.peak.raise_to(current);
    }

    #[inline]
    pub(crate) fn decrease(&self, by: u64) {
        self.current.subtract(by);
    }

    pub(crate) fn reset_peak(&self) {
        self.peak.set(self.current.get());
    }

    pub(crate) fn reset_accumulated(&self) {
        let total_in = self.total_in.get();
        self.base_in.set(total_in);
        self.base_out.set(total_in.wrapping_sub(self.current.get()));
    }

    pub(crate) fn values(&self) -> Values {
        let (total_in, current) = (self.total_in.get(), self.current.get());
        Values {
            current,
            peak: self.peak.get(),
            allocated: total_in.wrapping_sub(self.base_in.get()),
            freed: total_in.wrapping_sub(current).wrapping_sub(self.base_out.get()),
        }
    }
}

/// A gauge a pool, and current and peak of their sum.
#[derive(Debug, Default)]
pub(crate) struct PoolGauge {
    pools: [Gauge; 2],
    all_current: Cell,
    all_peak: Cell,
}

impl PoolGauge {
    #[inline]
    pub(crate) fn current(&self) -> u64 {
        self.all_current.get()
    }

    pub(crate) fn peak(&self) -> u64 {
        self.all_peak.get()
    }

    #[inline]
    pub(crate) fn increase(&self, pool: usize, by: u64) {
        self.pools[pool].increase(by);
        let current = self.all_current.add(by);
        self.all_peak.raise_to(current);
    }

    #[inline]
    pub(crate) fn decrease(&self, pool: usize, by: u64) {
        self.pools[pool].decrease(by);
        self.all_current.subtract(by);
    }

    #[inline]
    pub(crate) fn change(&self, pool: usize, by: i64) {
        match by {
            0 => {}
            1.. => self.increase(pool, by.unsigned_abs()),
            _ => self.decrease(pool, by.unsigned_abs()),
        }
    }

    pub(crate) fn reset_peak(&self) {
        self.pools.iter().for_each(Gauge::reset_peak);
        self.all_peak.set(self.all_current.get());
    }

    pub(crate) fn reset_accumulated(&self) {
        self.pools.iter().for_each(Gauge::reset_accumulated);
    }

    /// Sum, small pool, large pool.
    pub(crate) fn values(&self) -> [Values; 3] {
        let [small, large] = [self.pools[0].values(), self.pools[1].values()];
        let all = Values {
            current: self.all_current.get(),
            peak: self.all_peak.get(),
            allocated: small.allocated.wrapping_add(large.allocated),
            freed: small.freed.wrapping_add(large.freed),
        };
        [all, small, large]
    }
}
