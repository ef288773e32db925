//! Walking a store shard by shard, with one shard in memory at a time.
//!
//! Knows the two levels of directories. Skips what is not of a store, and refuses to follow links.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::EntryKind;
use super::place::{self, FileName};
use crate::{CacheError, Operation};

/// One file of a shard.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) name: FileName,
    pub(crate) path: PathBuf,
    pub(crate) metadata: Metadata,
}

/// Calls `visit` for each shard, in no order, then removes the directory if that left it empty.
/// Returns the number of directories removed. Files that vanish meanwhile are left out.
pub(crate) fn each_shard(
    root: &Path,
    kind: EntryKind,
    visit: &mut dyn FnMut(&Path, &mut dyn Iterator<Item = Found>),
) -> Result<u64, CacheError> {
    let mut n_removed = 0;
    for outer in shards_in(root)? {
        for inner in shards_in(&outer)? {
            let files = listed(&inner)?;
            visit(&inner, &mut files.into_iter().flatten().flatten().filter_map(|file| found(&file, kind)));
            n_removed += remove_if_empty(&inner);
        }
        n_removed += remove_if_empty(&outer);
    }
    Ok(n_removed)
}

/// Removes an empty directory; 1 if it did. One that is in use again is not empty.
pub(crate) fn remove_if_empty(directory: &Path) -> u64 {
    u64::from(fs::remove_dir(directory).is_ok())
}

fn shards_in(directory: &Path) -> Result<impl Iterator<Item = PathBuf>, CacheError> {
    let is_shard = |file: &fs::DirEntry| {
        file.file_name().to_str().is_some_and(place::is_shard_name)
            && file.file_type().is_ok_and(|kind| kind.is_dir())
    };
    let files = listed(directory)?.into_iter().flatten().flatten();
    Ok(files.filter(is_shard).map(|file| file.path()))
}

fn listed(directory: &Path) -> Result<Option<fs::ReadDir>, CacheError> {
    match fs::read_dir(directory) {
        Ok(files) => Ok(Some(files)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CacheError::from_io(Operation::List, directory, 0, error)),
    }
}

fn found(file: &fs::DirEntry, kind: EntryKind) -> Option<Found> {
    let name = FileName::read(file.file_name().to_str()?, kind);
    let metadata = file.metadata().ok().filter(|metadata| metadata.is_file())?;
    Some(Found { name, path: file.path(), metadata })
}
