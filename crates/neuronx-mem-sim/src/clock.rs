//! Time that only moves when told to. Never reads a real clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A clock in nanoseconds from 0, shared by its clones.
///
/// ```
/// use neuronx_mem_sim::VirtualClock;
///
/// let clock = VirtualClock::new();
/// clock.advance_ns(1500);
/// assert_eq!(clock.clone().now_ns(), 1500);
/// ```
#[derive(Clone, Debug, Default)]
pub struct VirtualClock {
    now_ns: Arc<AtomicU64>,
}

impl VirtualClock {
    /// Makes a clock that stands at 0.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The time now, nanoseconds.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.now_ns.load(Ordering::Relaxed)
    }

    /// Moves the time forward by `ns` nanoseconds.
    pub fn advance_ns(&self, ns: u64) {
        self.now_ns.fetch_add(ns, Ordering::Relaxed);
    }
}

/// What runtime calls cost on the virtual clock. The default costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostModel {
    /// A segment allocation, nanoseconds.
    pub allocate_ns: u64,
    /// Added to it for each whole MiB of the segment, nanoseconds.
    pub allocate_ns_per_mib: u64,
    /// Giving a segment back, nanoseconds.
    pub free_ns: u64,
    /// Making or dropping a slice, nanoseconds.
    pub slice_ns: u64,
}

impl CostModel {
    pub(crate) fn allocate(&self, bytes: u64) -> u64 {
        self.allocate_ns.saturating_add(self.allocate_ns_per_mib.saturating_mul(bytes >> 20))
    }
}
