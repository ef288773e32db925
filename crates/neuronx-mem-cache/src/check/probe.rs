//! Trying things out in a directory, in a place of its own that is removed again.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

use super::report::LockSupport;
use super::{FindingKind, LockAttempt, SecondProcess};

/// Bytes written to see whether there is room at all.
const PROBE: [u8; 4096] = [0x5a; 4096];

/// The nearest path at or above this one that exists.
pub(super) fn existing(path: &Path) -> Result<(PathBuf, fs::Metadata), FindingKind> {
    for ancestor in path.ancestors() {
        let ancestor = if ancestor.as_os_str().is_empty() { Path::new(".") } else { ancestor };
        match fs::metadata(ancestor) {
            Ok(metadata) => return Ok((ancestor.to_owned(), metadata)),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(error) => return Err(FindingKind::Unreachable { reason: error.kind().to_string() }),
        }
    }
    Err(FindingKind::Unreachable { reason: io::ErrorKind::NotFound.to_string() })
}

/// A directory of the check's own, in which a file could be written.
pub(super) fn writable(directory: &Path) -> io::Result<TempDir> {
    let probe = tempfile::Builder::new().prefix(".neuronx-check-").tempdir_in(directory)?;
    let mut file = File::create(lock_file(probe.path()))?;
    file.write_all(&PROBE)?;
    file.sync_all()?;
    Ok(probe)
}

/// Locks a file here and in a second process, in three steps.
pub(super) fn locks(probe: &Path, second: &dyn SecondProcess) -> (LockSupport, Option<FindingKind>) {
    match lock_steps(&lock_file(probe), second) {
        Ok(None) => (LockSupport::Works, None),
        Ok(Some(finding)) => (LockSupport::Fails, Some(finding)),
        Err(error) => {
            (LockSupport::NotTested, Some(FindingKind::LocksNotTested { reason: error.to_string() }))
        }
    }
}

fn lock_steps(path: &Path, second: &dyn SecondProcess) -> io::Result<Option<FindingKind>> {
    let (own, held) = LockAttempt::of(path);
    let (LockAttempt::Acquired, Some(file)) = (own, held) else {
        return Ok(Some(FindingKind::LocksFail));
    };
    match second.try_lock(path)? {
        LockAttempt::Held => {}
        LockAttempt::Acquired => return Ok(Some(FindingKind::LocksNotExclusive)),
        LockAttempt::Failed => return Ok(Some(FindingKind::LocksFail)),
    }
    if flock(&file, FlockOperation::Unlock).is_err() {
        return Ok(Some(FindingKind::LocksFail));
    }
    drop(file);
    match second.try_lock(path)? {
        LockAttempt::Acquired => {}
        LockAttempt::Held => return Ok(Some(FindingKind::LocksNotReleased)),
        LockAttempt::Failed => return Ok(Some(FindingKind::LocksFail)),
    }
    // The second process has ended with the lock in its hands.
    match LockAttempt::of(path).0 {
        LockAttempt::Acquired => Ok(None),
        LockAttempt::Held => Ok(Some(FindingKind::LocksNotReleased)),
        LockAttempt::Failed => Ok(Some(FindingKind::LocksFail)),
    }
}

fn lock_file(probe: &Path) -> PathBuf {
    probe.join("lock")
}
