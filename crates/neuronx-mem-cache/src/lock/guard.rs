//! A lock that is held, and one attempt to get it.
//!
//! The lock is `flock` on an open file: the kernel ends it with the last process that has the file
//! open, whatever kills it. The file is removed on release, so the one that is locked need not be
//! the one that its name leads to any more. Hence the rule: *a lock counts only while its file's
//! name leads to it, and only who holds the lock that counts removes the file.* Two can never hold
//! locks that count, and nobody has to break a lock.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::Holder;

/// Any process of the machine may lock a key, as far as the umask allows.
const FILE_MODE: u32 = 0o666;

/// Longest record that is read. A longer file is not ours.
const MAX_RECORD_BYTES: u64 = 1024;

/// Times that a file may be removed between opening and locking it before that counts as held.
const N_REPLACED: usize = 100;

/// The lock of a key, held until this is dropped or the process ends.
///
/// Not re-entrant: a thread that asks again waits for itself. A process made by `fork` shares the
/// lock; it is released when either side drops it.
#[derive(Debug)]
pub struct KeyLock {
    file: File,
    path: PathBuf,
    taken_over: Option<Holder>,
}

impl KeyLock {
    /// The lock file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Who held the lock and ended without releasing it, when somebody did.
    #[must_use]
    pub const fn taken_over(&self) -> Option<&Holder> {
        self.taken_over.as_ref()
    }

    /// Releases the lock, as dropping it does.
    pub fn release(self) {}

    /// Asks once. `None` when somebody holds it.
    pub(super) fn attempt(path: &Path) -> io::Result<Option<Self>> {
        for _ in 0..N_REPLACED {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(FILE_MODE)
                .open(path)?;
            if !try_flock(&file, FlockOperation::NonBlockingLockExclusive)? {
                return Ok(None);
            }
            if is_at(&file, path)? {
                let taken_over = read_holder(&file);
                note_holder(&file);
                return Ok(Some(Self { file, path: path.to_owned(), taken_over }));
            }
        }
        Ok(None)
    }
}

impl Drop for KeyLock {
    fn drop(&mut self) {
        // First the name, then the lock: the other way round, somebody could get the lock of a file
        // whose name is about to go. If somebody else removed the name, it is not ours to remove.
        if is_at(&self.file, &self.path).is_ok_and(|is_at| is_at) {
            let _ = fs::remove_file(&self.path);
        }
        // Not left to closing the file, for a forked child may still have it open.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// Whether somebody holds the lock of this file; `None` when there is no such file.
pub(super) fn is_held(path: &Path) -> io::Result<Option<bool>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let is_free = try_flock(&file, FlockOperation::NonBlockingLockShared)?;
    Ok(if is_at(&file, path)? { Some(!is_free) } else { None })
}

/// The record in a lock file.
pub(super) fn holder_of(path: &Path) -> Option<Holder> {
    read_holder(&File::open(path).ok()?)
}

fn try_flock(file: &File, operation: FlockOperation) -> io::Result<bool> {
    loop {
        match flock(file, operation) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether the name leads to this file and no other.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let own = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((own.dev(), own.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn read_holder(file: &File) -> Option<Holder> {
    let mut text = String::new();
    file.take(MAX_RECORD_BYTES).read_to_string(&mut text).ok()?;
    Holder::from_record(&text)
}

/// Writes who holds the lock. A full disk leaves the lock without a name, and works.
fn note_holder(file: &File) {
    let record = Holder::current().to_record();
    let written = file.set_len(0).and_then(|()| file.write_all_at(record.as_bytes(), 0));
    if let Err(error) = written {
        tracing::debug!(%error, "the holder of a cache lock could not be noted");
    }
}
