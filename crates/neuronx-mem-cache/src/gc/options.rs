//! What a collection is asked for, and what it did.

use std::time::{Duration, SystemTime};

use crate::CacheError;
use crate::store::DEFAULT_LEFTOVER_AGE;

/// What [`Store::gc`](crate::Store::gc) is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcOptions {
    /// Bytes of entries that may stay, as file lengths. 0 lets none stay.
    pub max_bytes: u64,
    /// Age from which unfinished files, empty files and unused seals count as left behind.
    pub leftover_age: Duration,
    /// Entries that are held in memory at once, at least 1; 64 bytes each.
    pub n_batch: usize,
    /// The time that ages are counted from.
    pub now: SystemTime,
}

impl GcOptions {
    /// Entries held in memory at once unless set otherwise.
    pub const DEFAULT_N_BATCH: usize = 65_536;

    /// Asks for this size, with an hour for writers to finish, from now.
    #[must_use]
    pub fn new(max_bytes: u64) -> Self {
        Self {
            max_bytes,
            leftover_age: DEFAULT_LEFTOVER_AGE,
            n_batch: Self::DEFAULT_N_BATCH,
            now: SystemTime::now(),
        }
    }

    /// Sets the age of leftovers.
    #[must_use]
    pub const fn with_leftover_age(mut self, age: Duration) -> Self {
        self.leftover_age = age;
        self
    }

    /// Sets how many entries are held in memory at once.
    #[must_use]
    pub const fn with_n_batch(mut self, n_batch: usize) -> Self {
        self.n_batch = n_batch;
        self
    }

    /// Sets the time that ages are counted from.
    #[must_use]
    pub const fn with_now(mut self, now: SystemTime) -> Self {
        self.now = now;
        self
    }

    pub(super) fn is_leftover(&self, modified: SystemTime) -> bool {
        self.now.duration_since(modified).is_ok_and(|age| age >= self.leftover_age)
    }
}

/// What a collection found and did.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct GcReport {
    /// Entries found, with bytes.
    pub scanned_entries: u64,
    /// Their bytes.
    pub scanned_bytes: u64,
    /// Entries removed.
    pub removed_entries: u64,
    /// Their bytes.
    pub removed_bytes: u64,
    /// Bytes of the entries that stay, as far as this collection knows.
    pub kept_bytes: u64,
    /// Entries that were used meanwhile and stay.
    pub spared_entries: u64,
    /// Unfinished files, empty files and unused seals removed.
    pub removed_leftovers: u64,
    /// Directories removed because they were empty.
    pub removed_directories: u64,
    /// Files that could not be removed.
    pub failures: u64,
    /// The first of those failures.
    pub first_failure: Option<CacheError>,
}

impl GcReport {
    pub(super) fn failed(&mut self, error: CacheError) {
        self.failures += 1;
        self.first_failure.get_or_insert(error);
    }
}
