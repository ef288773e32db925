//! Collection: the least recently used entries go until a store fits a size.
//!
//! Knows ages and sizes. Streams: one shard of names and a bounded heap of the oldest entries are
//! all it holds, however large the store. Refuses to touch read-only directories and files that are
//! not of the store.

mod evict;
mod oldest;
mod options;
mod sweep;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use options::{GcOptions, GcReport};

use crate::store::place::FileName;
use crate::store::walk;
use crate::{CacheError, Store};
use oldest::{Oldest, Record};

/// Walks in a row that removed nothing before the rest stays: all of it is in use, or protected.
const N_IDLE: u32 = 3;

impl Store {
    /// Removes the least recently used entries until those that stay have at most
    /// [`GcOptions::max_bytes`], and what writers left behind.
    ///
    /// Use is what `get` notes in the file's time of modification. An entry that is used or
    /// replaced while the collection runs stays. A reader of an entry that goes keeps its bytes, for
    /// its file is open. Walks the store once, and once more for each
    /// [`GcOptions::n_batch`] entries that go.
    ///
    /// # Errors
    ///
    /// A directory that cannot be listed. What cannot be removed is counted in the report.
    pub fn gc(&self, options: &GcOptions) -> Result<GcReport, CacheError> {
        let mut report = GcReport::default();
        measure(self, options, &mut report)?;
        report.kept_bytes = report.scanned_bytes;
        let mut n_idle = 0;
        while report.kept_bytes > options.max_bytes && n_idle < N_IDLE {
            let before = report.kept_bytes;
            let excess = before - options.max_bytes;
            for record in oldest_of(self, options, excess)? {
                evict::evict(self, &record, &mut report);
            }
            n_idle = if report.kept_bytes == before { n_idle + 1 } else { 0 };
        }
        Ok(report)
    }
}

/// First walk: sizes, and the leftovers of writers.
fn measure(store: &Store, options: &GcOptions, report: &mut GcReport) -> Result<(), CacheError> {
    let n_removed = walk::each_shard(store.root(), store.kind(), &mut |shard, files| {
        sweep::sweep(store, shard, files, options, report);
    })?;
    report.removed_directories += n_removed;
    Ok(())
}

/// A further walk: the oldest entries, no more of them than have to go, by shard.
fn oldest_of(store: &Store, options: &GcOptions, excess_bytes: u64) -> Result<Vec<Record>, CacheError> {
    let mut oldest = Oldest::new(options.n_batch, excess_bytes);
    walk::each_shard(store.root(), store.kind(), &mut |_: &Path, files| {
        for file in files {
            if let (FileName::Entry(key), Ok(used)) = (file.name, file.metadata.modified()) {
                oldest.offer(Record { used, key, length_bytes: file.metadata.len() });
            }
        }
    })?;
    Ok(oldest.into_shard_order())
}
