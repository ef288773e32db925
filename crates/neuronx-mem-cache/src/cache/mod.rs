//! The store and the locks together: every key is compiled once.
//!
//! Knows the order of the steps. Refuses to know what compiling is, and to lose what it gave: bytes
//! that cannot be stored are still returned.

mod outcome;
mod stats;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub use outcome::{GetOrCompileError, Origin, Outcome};
pub use stats::CacheStats;

use crate::lock::Waited;
use crate::{
    CacheError, CacheKey, Clock, Entry, KeyLock, Layer, LockDirectory, LockOptions, Store, SystemClock,
};
use stats::Counters;

/// A persistent cache of one kind of entry, shared with every process that has the same
/// directories. Safe to use from any number of threads; clones share their statistics.
#[derive(Clone, Debug)]
pub struct Cache {
    store: Store,
    locks: LockDirectory,
    lock_options: LockOptions,
    clock: Arc<dyn Clock>,
    is_enabled: bool,
    counters: Arc<Counters>,
}

impl Cache {
    /// Entries in `store`, locks below `local_dir` with the default timeout of 1200 s.
    ///
    /// `local_dir` has to be on a file system of this machine (guidelines for memory management,
    /// "Place caches deliberately"), and the same for all of its processes.
    pub fn new(store: Store, local_dir: impl AsRef<Path>) -> Self {
        Self {
            store,
            locks: LockDirectory::new(local_dir),
            lock_options: LockOptions::default(),
            clock: Arc::new(SystemClock::new()),
            is_enabled: true,
            counters: Arc::default(),
        }
    }

    /// Sets how locks are waited for, such as `TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT`.
    #[must_use]
    pub const fn with_lock_options(mut self, options: LockOptions) -> Self {
        self.lock_options = options;
        self
    }

    /// Sets the clock that waits for locks.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Turns the cache on or off, as `TORCH_NEURONX_NEFF_DISABLE_CACHE` does. Off, it holds nothing,
    /// stores nothing and locks nothing: every compile runs.
    #[must_use]
    pub const fn with_enabled(mut self, is_enabled: bool) -> Self {
        self.is_enabled = is_enabled;
        self
    }

    /// The store behind it.
    #[must_use]
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// The locks behind it.
    #[must_use]
    pub const fn locks(&self) -> &LockDirectory {
        &self.locks
    }

    /// What was counted since the cache was made, in this process.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        self.counters.read()
    }

    /// The entry of a key, counted as a hit or a miss. Never waits for a lock.
    #[must_use]
    pub fn get(&self, key: &CacheKey) -> Option<Entry> {
        let entry = self.look(key);
        match &entry {
            Some(entry) => self.counters.hit(entry),
            None => self.counters.misses.add(1),
        }
        entry
    }

    /// Stores an entry; nothing when the cache is off.
    ///
    /// # Errors
    ///
    /// Those of [`Store::put`].
    pub fn put(&self, key: &CacheKey, bytes: &[u8]) -> Result<(), CacheError> {
        if !self.is_enabled {
            return Ok(());
        }
        let result = self.store.put(key, bytes);
        self.counters.put(bytes, result.is_ok());
        result
    }

    /// The entry of a key, made by `compile` if there is none. Of all threads and processes that ask
    /// for the key at one time, one compiles; the others wait and read what it stored. If it fails or
    /// dies, the next of them compiles. Counts one hit or one miss.
    ///
    /// # Errors
    ///
    /// [`GetOrCompileError::Compile`] with what `compile` gave; [`GetOrCompileError::Cache`] when the
    /// lock cannot be had. A failed write is none: see [`Outcome::store_error`].
    pub fn get_or_compile<E>(
        &self,
        key: &CacheKey,
        compile: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Outcome, GetOrCompileError<E>> {
        if !self.is_enabled {
            let bytes = self.compile(compile)?;
            return Ok(Outcome {
                bytes,
                origin: Origin::CompiledUncached,
                waited: Duration::ZERO,
                store_error: None,
            });
        }
        if let Some(entry) = self.look(key) {
            return Ok(self.found(entry, Duration::ZERO));
        }
        let (lock, waited) = match self.wait(key)? {
            Waited::Without(entry, waited) => return Ok(self.found(entry, waited)),
            Waited::Locked(lock, waited) => (lock, waited),
        };
        // Whoever held the lock before has probably done the work.
        if let Some(entry) = self.present(key) {
            return Ok(self.found(entry, waited));
        }
        let bytes = self.compile(compile)?;
        let store_error = self.put(key, &bytes).err();
        if let Some(error) = &store_error {
            tracing::warn!(%key, %error, "a compiled entry could not be stored");
        }
        lock.release();
        Ok(Outcome { bytes, origin: Origin::Compiled, waited, store_error })
    }

    fn wait(&self, key: &CacheKey) -> Result<Waited<Entry>, CacheError> {
        let start = self.clock.now();
        let result = self.locks.lock_unless(key, &self.lock_options, &*self.clock, || self.present(key));
        self.counters.waited(self.clock.now().saturating_sub(start));
        match &result {
            Ok(Waited::Locked(lock, _)) => self.note_taken_over(key, lock),
            Err(error) if error.is_lock_timeout() => self.counters.lock_timeouts.add(1),
            _ => {}
        }
        result
    }

    fn note_taken_over(&self, key: &CacheKey, lock: &KeyLock) {
        if let Some(holder) = lock.taken_over() {
            self.counters.locks_taken_over.add(1);
            tracing::warn!(%key, process_id = holder.process_id, "the last holder of a cache lock did not release it");
        }
    }

    fn compile<E>(
        &self,
        compile: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Vec<u8>, GetOrCompileError<E>> {
        self.counters.misses.add(1);
        self.counters.compiles.add(1);
        compile().map_err(|error| {
            self.counters.compile_failures.add(1);
            GetOrCompileError::Compile(error)
        })
    }

    /// Looks, and counts damage but neither hit nor miss.
    fn look(&self, key: &CacheKey) -> Option<Entry> {
        if !self.is_enabled {
            return None;
        }
        let lookup = self.store.lookup(key);
        if lookup.met_corruption() {
            self.counters.corrupt.add(1);
        }
        lookup.entry
    }

    /// Looks without counting damage again, and cheaply while there is nothing.
    fn present(&self, key: &CacheKey) -> Option<Entry> {
        if self.store.exists(key) { self.store.get(key) } else { None }
    }

    fn found(&self, entry: Entry, waited: Duration) -> Outcome {
        self.counters.hit(&entry);
        let origin = if entry.layer == Layer::Local { Origin::Store } else { Origin::SharedStore };
        Outcome { bytes: entry.bytes, origin, waited, store_error: None }
    }
}
