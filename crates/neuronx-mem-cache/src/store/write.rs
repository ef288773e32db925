//! Writing one entry so that no reader ever sees a part of it, and removing one.
//!
//! The order is: bytes into an unfinished file in the same directory, the seal, the rename. Whatever
//! fails or dies in between, the entry that was there before stays whole and sealed.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::NamedTempFile;

use super::place::{self, UNFINISHED_PREFIX};
use super::read::seals;
use super::seal::Seal;
use super::{Durability, EntryKind};
use crate::{CacheError, CacheKey, Operation};

/// Tries of a write whose directory a collection removes at the same time.
const N_TRIES: usize = 16;

/// Read and write for all whom the process's umask lets in: a store may be shared.
const FILE_MODE: u32 = 0o666;

/// What is written, and where.
pub(super) struct Writing<'a> {
    pub(super) root: &'a Path,
    pub(super) key: CacheKey,
    pub(super) kind: EntryKind,
    pub(super) durability: Durability,
    pub(super) bytes: &'a [u8],
}

impl Writing<'_> {
    pub(super) fn put(&self) -> Result<(), CacheError> {
        if self.bytes.is_empty() {
            return Err(CacheError::EmptyEntry { key: self.key });
        }
        let shard = place::shard(self.root, self.key);
        let seal = shard.join(place::seal_name(self.key, Seal::of(self.bytes)));
        let mut result = self.put_once(&shard, &seal);
        for _ in 1..N_TRIES {
            match &result {
                Err(error) if error.is_vanished() => {}
                _ => break,
            }
            result = self.create_shard(&shard).and_then(|()| self.put_once(&shard, &seal));
        }
        result
    }

    fn put_once(&self, shard: &Path, seal: &Path) -> Result<(), CacheError> {
        let file = self.unfinished(shard)?;
        let is_new = set_seal(seal).map_err(self.error(Operation::CreateFile, seal))?;
        let path = shard.join(place::entry_name(self.key, self.kind));
        if let Err(error) = file.persist(&path) {
            if is_new {
                // Unused, and this is the last moment that somebody knows it.
                let _ = fs::remove_file(seal);
            }
            return Err(self.error(Operation::Rename, &path)(error.error));
        }
        // A collection that took the old entry may have taken the seal with it.
        set_seal(seal).map_err(self.error(Operation::CreateFile, seal))?;
        if self.durability == Durability::Machine {
            let directory = File::open(shard).and_then(|directory| directory.sync_all());
            directory.map_err(self.error(Operation::Sync, shard))?;
        }
        Ok(())
    }

    /// The bytes in a file that vanishes unless it is renamed.
    fn unfinished(&self, shard: &Path) -> Result<NamedTempFile, CacheError> {
        let mut file = tempfile::Builder::new()
            .prefix(UNFINISHED_PREFIX)
            .permissions(Permissions::from_mode(FILE_MODE))
            .tempfile_in(shard)
            .map_err(self.error(Operation::CreateFile, shard))?;
        file.as_file_mut().write_all(self.bytes).map_err(self.error(Operation::Write, shard))?;
        if self.durability == Durability::Machine {
            file.as_file().sync_all().map_err(self.error(Operation::Sync, shard))?;
        }
        Ok(file)
    }

    fn create_shard(&self, shard: &Path) -> Result<(), CacheError> {
        fs::create_dir_all(shard).map_err(self.error(Operation::CreateDirectory, shard))
    }

    fn error(&self, operation: Operation, path: &Path) -> impl FnOnce(io::Error) -> CacheError {
        move |source| CacheError::from_io(operation, path, self.bytes.len(), source)
    }
}

/// Creates a seal, or renews the age of the one that is there. True when it is new.
fn set_seal(path: &Path) -> io::Result<bool> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // Its age only keeps a collection from taking it; not worth a failure.
            let _ = rustix::fs::utimensat(rustix::fs::CWD, path, &NOW, rustix::fs::AtFlags::empty());
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

const NOW: rustix::fs::Timestamps = {
    let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    rustix::fs::Timestamps { last_access: now, last_modification: now }
};

/// Removes an entry, then its seals. True when there was an entry.
pub(super) fn remove(root: &Path, key: CacheKey, kind: EntryKind) -> Result<bool, CacheError> {
    let shard = place::shard(root, key);
    let existed = remove_file(&shard.join(place::entry_name(key, kind)))?;
    for seal in seals(&shard, key, kind) {
        remove_file(&shard.join(place::seal_name(key, seal)))?;
    }
    Ok(existed)
}

/// True when there was a file.
pub(crate) fn remove_file(path: &Path) -> Result<bool, CacheError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(error) => Err(CacheError::from_io(Operation::Remove, path, 0, error)),
    }
}
