//! Reading one entry of one directory, and telling whether its bytes are whole.
//!
//! Files are replaced by rename and never changed, so an open file keeps its bytes whatever writers
//! and collections do. Refuses to repair anything.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{OFlags, Timespec, Timestamps, UTIME_NOW};

use super::EntryKind;
use super::lookup::MissReason;
use super::place::{self, FileName};
use super::seal::Seal;
use crate::CacheKey;

/// A hit renews the age of an entry that was not renewed for this long. More often would write to a
/// shared file system at every hit and make the order of a collection no better.
const RENEWAL: Duration = Duration::from_secs(60);

/// Readings of an entry that fits no seal. A writer may replace the entry, and a collection sweep
/// the seal of the old one, between two looks; not twice.
const N_READINGS: usize = 2;

/// Whether a hit may write the time of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Renew {
    Yes,
    No,
}

/// Bytes, and whether a seal confirms them.
pub(super) fn read(
    root: &Path,
    key: CacheKey,
    kind: EntryKind,
    renew: Renew,
) -> Result<(Vec<u8>, bool), MissReason> {
    let shard = place::shard(root, key);
    let path = shard.join(place::entry_name(key, kind));
    let mut corrupt = MissReason::Absent;
    for _ in 0..N_READINGS {
        let (file, used) = open(&path)?;
        let bytes = content(&file)?;
        let seal = Seal::of(&bytes);
        if shard.join(place::seal_name(key, seal)).exists() {
            renew_age(&file, used, renew);
            return Ok((bytes, true));
        }
        let Some(other) = any_seal(&shard, key, kind) else {
            renew_age(&file, used, renew);
            return Ok((bytes, false));
        };
        corrupt =
            MissReason::Corrupt { length_bytes: seal.length_bytes, sealed_length_bytes: other.length_bytes };
    }
    Err(corrupt)
}

/// The file, when it is one and has bytes, with the time of its last use.
fn open(path: &Path) -> Result<(File, Option<SystemTime>), MissReason> {
    // Opening a pipe that lies there by accident must not wait for its other end.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|error| miss(&error))?;
    let metadata = file.metadata().map_err(|error| miss(&error))?;
    if !metadata.is_file() {
        return Err(MissReason::Unreadable { reason: "not a file".to_owned() });
    }
    if metadata.len() == 0 {
        return Err(MissReason::Empty);
    }
    Ok((file, metadata.modified().ok()))
}

fn content(file: &File) -> Result<Vec<u8>, MissReason> {
    let mut bytes = Vec::new();
    // Reserves what the file says it has, and fails as an error where that does not fit.
    let length = file.metadata().map_err(|error| miss(&error))?.len();
    let too_large = |_| MissReason::Unreadable { reason: format!("{length} bytes do not fit memory") };
    let n_bytes = usize::try_from(length)
        .map_err(|_| MissReason::Unreadable { reason: format!("{length} bytes do not fit memory") })?;
    bytes.try_reserve_exact(n_bytes).map_err(too_large)?;
    let mut reader = file;
    reader.read_to_end(&mut bytes).map_err(|error| miss(&error))?;
    if bytes.is_empty() { Err(MissReason::Empty) } else { Ok(bytes) }
}

fn miss(error: &io::Error) -> MissReason {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => MissReason::Absent,
        kind => MissReason::Unreadable { reason: kind.to_string() },
    }
}

/// The smallest seal of a key, for the entry that fits none.
fn any_seal(shard: &Path, key: CacheKey, kind: EntryKind) -> Option<Seal> {
    seals(shard, key, kind).into_iter().min()
}

/// All seals of a key. Costs a listing of its shard.
pub(super) fn seals(shard: &Path, key: CacheKey, kind: EntryKind) -> Vec<Seal> {
    let names = fs::read_dir(shard).into_iter().flatten().flatten().map(|file| file.file_name());
    let seal = |name: std::ffi::OsString| match FileName::read(name.to_str()?, kind) {
        FileName::Seal(of, seal) if of == key => Some(seal),
        _ => None,
    };
    names.filter_map(seal).collect()
}

/// Notes the use of an entry in its time of modification. A store that may not be written keeps
/// its order of age.
fn renew_age(file: &File, used: Option<SystemTime>, renew: Renew) {
    let is_recent = used.is_none_or(|used| used.elapsed().is_ok_and(|age| age < RENEWAL));
    if is_recent || renew == Renew::No {
        return;
    }
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    if let Err(error) = rustix::fs::futimens(file, &Timestamps { last_access: now, last_modification: now }) {
        tracing::debug!(%error, "the use of a cache entry could not be noted");
    }
}
