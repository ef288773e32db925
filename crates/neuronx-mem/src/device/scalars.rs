//! The scalar cache: device-side constants that are made once and kept. Bounded; the least recently
//! used goes first. Knows keys and handles, not how a value gets to the device: the caller writes it.

use std::collections::{BTreeMap, HashMap};

use neuronx_mem_pool::PoolError;
use parking_lot::Mutex;

use super::{Device, Handle};
use crate::{AllocError, Stream};

/// Constants kept at most; each takes one block of the small pool.
const MOST_SCALARS: usize = 4096;

/// A constant: the number of its type in the framework, and the bits of its value.
///
/// Two values with the same bits are one, so 0.0 and -0.0 are two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScalarKey {
    /// The type, by the framework's own numbering.
    pub dtype: u8,
    /// The value's bits, low bytes first; 16 bytes hold a complex of two 64-bit parts.
    pub bits: u128,
    /// Bytes of the value.
    pub bytes: u8,
}

/// How often a constant was there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScalarStats {
    /// Requests that found their constant.
    pub hits: u64,
    /// Requests that had to make it.
    pub misses: u64,
    /// Constants that went to make room for others.
    pub evictions: u64,
    /// Constants held now.
    pub entries: usize,
}

#[derive(Debug, Default)]
pub(super) struct Scalars {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    entries: HashMap<ScalarKey, Entry>,
    /// Keys by last use; the order of the hash map decides nothing.
    by_use: BTreeMap<u64, ScalarKey>,
    next_use: u64,
    stats: ScalarStats,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    handle: Handle,
    last_use: u64,
}

impl Device {
    /// A constant's block on the device: the one kept, or a new one that `write` has filled.
    ///
    /// The block counts as allocated until the cache gives it back: when it is among the least
    /// recently used, during recovery, by `empty_cache`, or at the end. It stays the cache's: do
    /// not free it. `stream` is recorded for it, so that it outlives the work submitted there before
    /// the cache gives it back; where several threads share a device, submit the work that reads it
    /// before another one can empty the cache or run out of memory. With
    /// the cache switched off ([`AllocatorBuilder::scalar_cache`](crate::AllocatorBuilder)) each
    /// call makes a new block, which the caller frees. O(log constants).
    ///
    /// # Errors
    ///
    /// Those of an allocation, and what `write` returns; nothing is kept then.
    pub fn cached_scalar(
        &self,
        key: ScalarKey,
        stream: &Stream,
        write: impl FnOnce(&Handle) -> Result<(), AllocError>,
    ) -> Result<Handle, AllocError> {
        if self.shared.settings.has_scalar_cache
            && let Some(handle) = self.shared.scalars.kept.lock().find(key)
            // Another thread may have emptied the cache since: then the constant is made again.
            && self.record_stream_handle(handle, stream.id()).is_ok()
        {
            return Ok(handle);
        }
        // No lock is held across the allocation: its recovery may clear the cache.
        let block = self.allocate(u64::from(key.bytes).max(1), stream)?;
        // The block frees itself if the write fails.
        let Some(handle) = block.handle() else { return Err(AllocError::from(PoolError::ZeroBytes)) };
        write(&handle)?;
        let _ = block.into_handle();
        if !self.shared.settings.has_scalar_cache {
            return Ok(handle);
        }
        let (kept, surplus) = self.shared.scalars.kept.lock().insert(key, handle);
        if let Some(surplus) = surplus {
            self.free_handle(surplus)?;
        }
        Ok(kept)
    }

    /// Hits, misses and size of the scalar cache.
    #[must_use]
    pub fn scalar_cache_stats(&self) -> ScalarStats {
        let kept = self.shared.scalars.kept.lock();
        ScalarStats { entries: kept.entries.len(), ..kept.stats }
    }

    /// Frees every constant, in stream order; how many.
    pub(super) fn clear_scalars(&self) -> usize {
        let handles = self.shared.scalars.kept.lock().take_all();
        for handle in &handles {
            if let Err(error) = self.free_handle(*handle) {
                tracing::error!(%error, "a cached constant was freed by somebody else");
            }
        }
        handles.len()
    }
}

impl Kept {
    fn find(&mut self, key: ScalarKey) -> Option<Handle> {
        let Some(entry) = self.entries.get_mut(&key) else {
            self.stats.misses += 1;
            return None;
        };
        self.by_use.remove(&entry.last_use);
        entry.last_use = self.next_use;
        self.by_use.insert(self.next_use, key);
        self.next_use += 1;
        self.stats.hits += 1;
        Some(entry.handle)
    }

    /// Keeps a new constant; what to use, and what to free: another thread may have been first, or
    /// the cache is full.
    fn insert(&mut self, key: ScalarKey, handle: Handle) -> (Handle, Option<Handle>) {
        if let Some(first) = self.entries.get(&key) {
            return (first.handle, Some(handle));
        }
        let evicted = if self.entries.len() < MOST_SCALARS { None } else { self.evict() };
        self.entries.insert(key, Entry { handle, last_use: self.next_use });
        self.by_use.insert(self.next_use, key);
        self.next_use += 1;
        (handle, evicted)
    }

    fn evict(&mut self) -> Option<Handle> {
        let (_, key) = self.by_use.pop_first()?;
        self.stats.evictions += 1;
        self.entries.remove(&key).map(|entry| entry.handle)
    }

    /// Empties the cache, least recently used first.
    fn take_all(&mut self) -> Vec<Handle> {
        let by_use = std::mem::take(&mut self.by_use);
        by_use.into_values().filter_map(|key| self.entries.remove(&key)).map(|entry| entry.handle).collect()
    }
}
