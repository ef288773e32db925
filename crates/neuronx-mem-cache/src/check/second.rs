//! The second process of the lock test. A library cannot start one: it has no program to run.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// What came of one attempt to lock a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LockAttempt {
    /// The lock was free, and is now held by whoever tried.
    Acquired,
    /// Somebody else holds it.
    Held,
    /// The call itself failed: the file system has no locks, or they are out of order.
    Failed,
}

impl LockAttempt {
    /// Exit code for a process that tries and tells. 0 to 2 are left to other outcomes.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Acquired => 10,
            Self::Held => 11,
            Self::Failed => 12,
        }
    }

    /// The attempt of such a process; `None` for a process that ended otherwise.
    #[must_use]
    pub fn from_exit_code(code: i32) -> Option<Self> {
        [Self::Acquired, Self::Held, Self::Failed]
            .into_iter()
            .find(|attempt| i32::from(attempt.exit_code()) == code)
    }

    /// Tries to lock an existing file, without waiting. Keep the file to keep the lock; a process
    /// that just ends leaves the release to the kernel, which is part of the test.
    #[must_use]
    pub fn of(path: &Path) -> (Self, Option<File>) {
        let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else {
            return (Self::Failed, None);
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => (Self::Acquired, Some(file)),
            Err(Errno::WOULDBLOCK) => (Self::Held, None),
            Err(_) => (Self::Failed, None),
        }
    }
}

/// Starts another process that tries to lock a file with [`LockAttempt::of`], tells what came of it
/// and ends without unlocking. Closures are such starters.
pub trait SecondProcess {
    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// That it could not be started, or ended otherwise.
    fn try_lock(&self, path: &Path) -> io::Result<LockAttempt>;
}

impl<F: Fn(&Path) -> io::Result<LockAttempt>> SecondProcess for F {
    fn try_lock(&self, path: &Path) -> io::Result<LockAttempt> {
        self(path)
    }
}
