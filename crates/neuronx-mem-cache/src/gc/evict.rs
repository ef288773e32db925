//! Taking one entry out, unless somebody used it since the walk.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::oldest::Record;
use super::options::GcReport;
use crate::Store;
use crate::store::place::{self, FileName};
use crate::store::{walk, write};

pub(super) fn evict(store: &Store, record: &Record, report: &mut GcReport) {
    let path = store.path_of(&record.key);
    let shard = place::shard(store.root(), record.key);
    match modified(&path) {
        Some(used) if used != record.used => {
            report.spared_entries += 1;
            // It is as large as before, or new; either way it no longer has to go for its age.
            return;
        }
        _ => {}
    }
    let seals = seals(store, &shard, record);
    match write::remove_file(&path) {
        Ok(was_here) => {
            report.removed_entries += u64::from(was_here);
            report.removed_bytes += if was_here { record.length_bytes } else { 0 };
            report.kept_bytes = report.kept_bytes.saturating_sub(record.length_bytes);
        }
        Err(error) => return report.failed(error),
    }
    for (seal, set) in seals {
        // A writer that stores the same bytes again has renewed its seal.
        if modified(&seal) == Some(set)
            && let Err(error) = write::remove_file(&seal)
        {
            report.failed(error);
        }
    }
    report.removed_directories += walk::remove_if_empty(&shard);
    report.removed_directories += shard.parent().map_or(0, walk::remove_if_empty);
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.symlink_metadata().ok()?.modified().ok()
}

fn seals(store: &Store, shard: &Path, record: &Record) -> Vec<(PathBuf, SystemTime)> {
    let files = std::fs::read_dir(shard).into_iter().flatten().flatten();
    let seals = files.filter(|file| {
        let name = file.file_name();
        let name = name.to_str().map(|name| FileName::read(name, store.kind()));
        matches!(name, Some(FileName::Seal(key, _)) if key == record.key)
    });
    seals.filter_map(|file| Some((file.path(), modified(&file.path())?))).collect()
}
