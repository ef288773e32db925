//! One shard of the first walk: adds up its entries and removes what nobody will ever use.
//!
//! Left behind are unfinished and empty files of writers that died, and seals of bytes that an entry
//! no longer has. All of them get time first: the writer may be about to use them.

use std::fs;
use std::path::{Path, PathBuf};

use super::options::{GcOptions, GcReport};
use crate::store::place::{self, FileName};
use crate::store::seal::Seal;
use crate::store::walk::Found;
use crate::store::write;
use crate::{CacheKey, Store};

/// A seal of the shard, and whether it has been there long enough to go.
struct OldSeal {
    key: CacheKey,
    seal: Seal,
    path: PathBuf,
    is_old: bool,
}

pub(super) fn sweep(
    store: &Store,
    shard: &Path,
    files: &mut dyn Iterator<Item = Found>,
    options: &GcOptions,
    report: &mut GcReport,
) {
    let mut seals = Vec::new();
    for Found { name, path, metadata } in files {
        let is_old = metadata.modified().is_ok_and(|modified| options.is_leftover(modified));
        match name {
            FileName::Entry(_) if metadata.len() > 0 => {
                report.scanned_entries += 1;
                report.scanned_bytes += metadata.len();
            }
            FileName::Entry(_) | FileName::Unfinished if is_old => remove(&path, report),
            FileName::Seal(key, seal) => seals.push(OldSeal { key, seal, path, is_old }),
            _ => {}
        }
    }
    seals.sort_by_key(|old| (old.key, old.seal));
    for of_key in seals.chunk_by(|one, other| one.key == other.key) {
        sweep_seals(store, shard, of_key, report);
    }
}

/// Removes the old seals of one key that do not fit its entry.
fn sweep_seals(store: &Store, shard: &Path, seals: &[OldSeal], report: &mut GcReport) {
    let Some(first) = seals.iter().find(|seal| seal.is_old) else {
        return;
    };
    let entry = shard.join(place::entry_name(first.key, store.kind()));
    let used = match (seals.len(), entry.exists()) {
        (_, false) => None,
        // The usual case: one seal, and reading every entry to check it would take hours.
        (1, true) => return,
        (_, true) => match fs::read(&entry) {
            Ok(bytes) => Some(Seal::of(&bytes)),
            Err(_) => return,
        },
    };
    let fits_any = used.is_some_and(|used| seals.iter().any(|seal| seal.seal == used));
    if used.is_some() && !fits_any {
        // A damaged entry: without any seal it would pass as one that never had a seal.
        return;
    }
    for unused in seals.iter().filter(|seal| seal.is_old && Some(seal.seal) != used) {
        remove(&unused.path, report);
    }
}

fn remove(path: &Path, report: &mut GcReport) {
    match write::remove_file(path) {
        Ok(was_here) => report.removed_leftovers += u64::from(was_here),
        Err(error) => report.failed(error),
    }
}
