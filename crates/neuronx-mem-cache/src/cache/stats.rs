//! Counters of one cache in one process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::{Entry, Layer};

/// What a cache did. A consistent reading only while nobody uses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheStats {
    /// Entries found, in any directory and after any wait.
    pub hits: u64,
    /// Of these, entries of read-only directories.
    pub shared_hits: u64,
    /// Entries not found.
    pub misses: u64,
    /// Damaged entries met. Each counts as a miss or a hit of another directory too.
    pub corrupt: u64,
    /// Compiler runs, failed ones too.
    pub compiles: u64,
    /// Compiler runs that failed.
    pub compile_failures: u64,
    /// Bytes of the entries found.
    pub bytes_read: u64,
    /// Bytes of the entries stored.
    pub bytes_written: u64,
    /// Entries that could not be stored.
    pub put_failures: u64,
    /// Microseconds spent waiting for locks.
    pub waited_us: u64,
    /// Waits that ended without the lock.
    pub lock_timeouts: u64,
    /// Locks whose last holder ended without releasing them.
    pub locks_taken_over: u64,
}

impl CacheStats {
    /// Seconds spent waiting for locks.
    #[must_use]
    pub fn waited_seconds(&self) -> f64 {
        Duration::from_micros(self.waited_us).as_secs_f64()
    }
}

/// A number that any thread may raise.
#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    pub(super) fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    hits: Counter,
    shared_hits: Counter,
    pub(super) misses: Counter,
    pub(super) corrupt: Counter,
    pub(super) compiles: Counter,
    pub(super) compile_failures: Counter,
    bytes_read: Counter,
    bytes_written: Counter,
    put_failures: Counter,
    waited_us: Counter,
    pub(super) lock_timeouts: Counter,
    pub(super) locks_taken_over: Counter,
}

impl Counters {
    pub(super) fn hit(&self, entry: &Entry) {
        self.hits.add(1);
        self.shared_hits.add(u64::from(entry.layer != Layer::Local));
        self.bytes_read.add(length(&entry.bytes));
    }

    pub(super) fn put(&self, bytes: &[u8], is_stored: bool) {
        if is_stored {
            self.bytes_written.add(length(bytes));
        } else {
            self.put_failures.add(1);
        }
    }

    pub(super) fn waited(&self, time: Duration) {
        self.waited_us.add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    pub(super) fn read(&self) -> CacheStats {
        CacheStats {
            hits: self.hits.get(),
            shared_hits: self.shared_hits.get(),
            misses: self.misses.get(),
            corrupt: self.corrupt.get(),
            compiles: self.compiles.get(),
            compile_failures: self.compile_failures.get(),
            bytes_read: self.bytes_read.get(),
            bytes_written: self.bytes_written.get(),
            put_failures: self.put_failures.get(),
            waited_us: self.waited_us.get(),
            lock_timeouts: self.lock_timeouts.get(),
            locks_taken_over: self.locks_taken_over.get(),
        }
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
