//! How often libnrt was called. Counts, and judges nothing.

use std::sync::atomic::{AtomicU64, Ordering};

/// Calls of libnrt by this runtime, failed ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallCounters {
    /// `nrt_tensor_allocate`.
    pub allocations: u64,
    /// `nrt_tensor_allocate_slice`.
    pub slices: u64,
    /// `nrt_tensor_free`, of tensors and slices.
    pub frees: u64,
    /// Reads, writes, copies and fills.
    pub transfers: u64,
    /// Questions: addresses, sizes, places, memory in use.
    pub queries: u64,
}

impl CallCounters {
    /// All of them together.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.allocations + self.slices + self.frees + self.transfers + self.queries
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) allocations: AtomicU64,
    pub(crate) slices: AtomicU64,
    pub(crate) frees: AtomicU64,
    pub(crate) transfers: AtomicU64,
    pub(crate) queries: AtomicU64,
}

impl Counters {
    pub(crate) fn read(&self) -> CallCounters {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CallCounters {
            allocations: get(&self.allocations),
            slices: get(&self.slices),
            frees: get(&self.frees),
            transfers: get(&self.transfers),
            queries: get(&self.queries),
        }
    }
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
