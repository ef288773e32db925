//! One counter by pool, written by one thread at a time and read by any. Loads and stores only:
//! a read-modify-write costs several times as much and buys nothing with a single writer.

use crate::Values;
use crate::primitive::{AtomicU64, Ordering::Relaxed};

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

/// What has come in and gone out since the start, and the most of it at once. The current value
/// follows from the two, so that a change is one store.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    total_in: Cell,
    total_out: Cell,
    peak: Cell,
    /// `total_in` at the last reset of accumulated values.
    base_in: Cell,
    /// `total_out` at that moment.
    base_out: Cell,
}

impl Gauge {
    #[inline]
    pub(crate) fn current(&self) -> u64 {
        self.total_in.get().wrapping_sub(self.total_out.get())
    }

    #[inline]
    pub(crate) fn increase(&self, by: u64) -> u64 {
        let current = self.total_in.add(by).wrapping_sub(self.total_out.get());
        self.peak.raise_to(current);
        current
    }

    #[inline]
    pub(crate) fn decrease(&self, by: u64) {
        self.total_out.add(by);
    }

    pub(crate) fn reset_peak(&self) {
        self.peak.set(self.current());
    }

    pub(crate) fn reset_accumulated(&self) {
        self.base_in.set(self.total_in.get());
        self.base_out.set(self.total_out.get());
    }

    pub(crate) fn values(&self) -> Values {
        Values {
            current: self.current(),
            peak: self.peak.get(),
            allocated: self.total_in.get().wrapping_sub(self.base_in.get()),
            freed: self.total_out.get().wrapping_sub(self.base_out.get()),
        }
    }
}

/// A gauge a pool, and current and peak of their sum.
#[derive(Debug, Default)]
pub(crate) struct PoolGauge {
    pools: [Gauge; 2],
    all_peak: Cell,
    /// The sum of both, for readers of this one value; kept by the `_published` methods only.
    published: Cell,
}

impl PoolGauge {
    /// The sum of both pools, in one load; of gauges that are written by the `_published` methods.
    #[inline]
    pub(crate) fn published(&self) -> u64 {
        self.published.get()
    }

    pub(crate) fn peak(&self) -> u64 {
        self.all_peak.get()
    }

    #[inline]
    pub(crate) fn increase_published(&self, pool: usize, by: u64) {
        self.pools[pool].increase(by);
        self.all_peak.raise_to(self.published.add(by));
    }

    #[inline]
    pub(crate) fn decrease_published(&self, pool: usize, by: u64) {
        self.pools[pool].decrease(by);
        self.published.subtract(by);
    }

    #[inline]
    pub(crate) fn increase(&self, pool: usize, by: u64) {
        let current = self.pools[pool].increase(by);
        self.all_peak.raise_to(current.wrapping_add(self.pools[1 - pool].current()));
    }

    #[inline]
    pub(crate) fn decrease(&self, pool: usize, by: u64) {
        self.pools[pool].decrease(by);
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
        self.all_peak.set(self.current());
    }

    pub(crate) fn reset_accumulated(&self) {
        self.pools.iter().for_each(Gauge::reset_accumulated);
    }

    /// Sum, small pool, large pool.
    pub(crate) fn values(&self) -> [Values; 3] {
        let [small, large] = [self.pools[0].values(), self.pools[1].values()];
        let all = Values {
            current: small.current.wrapping_add(large.current),
            peak: self.all_peak.get(),
            allocated: small.allocated.wrapping_add(large.allocated),
            freed: small.freed.wrapping_add(large.freed),
        };
        [all, small, large]
    }

    fn current(&self) -> u64 {
        self.pools[0].current().wrapping_add(self.pools[1].current())
    }
}
