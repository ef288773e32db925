//! What can be wrong with a directory, and what to do about it.

use std::fmt;
use std::path::PathBuf;

use super::{Filesystem, Role};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// May well be meant so.
    Note,
    /// Something may not work, or not for long.
    Warning,
    /// Locks or writes do not work.
    Error,
}

impl Severity {
    /// In one word, as JSON has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Something wrong with one directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckFinding {
    /// What the directory is for.
    pub role: Role,
    /// Where it is.
    pub path: PathBuf,
    /// What is wrong.
    pub kind: FindingKind,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingKind {
    /// Locks are on a network file system.
    NetworkFilesystem {
        /// Which.
        filesystem: Filesystem,
    },
    /// Locks are on a file system that a program makes, which may be remote.
    ProgramFilesystem {
        /// Which.
        filesystem: Filesystem,
    },
    /// Entries are in memory, or in a container's layers.
    ShortLived {
        /// Which.
        filesystem: Filesystem,
    },
    /// Something else is at this path, or above it.
    NotADirectory,
    /// It cannot be looked at.
    Unreachable {
        /// What the system said, in words.
        reason: String,
    },
    /// It is not there and cannot be made.
    NotCreatable {
        /// The nearest directory above it that exists.
        below: PathBuf,
        /// What the system said, in words.
        reason: String,
    },
    /// Nothing can be written to it.
    NotWritable {
        /// What the system said, in words.
        reason: String,
    },
    /// Little space is left.
    LittleSpace {
        /// Bytes left.
        free_bytes: u64,
        /// Bytes wanted.
        wanted_bytes: u64,
    },
    /// Two processes got the same lock.
    LocksNotExclusive,
    /// A lock stays after its release, or after its process.
    LocksNotReleased,
    /// The file system has no locks.
    LocksFail,
    /// The second process of the lock test did not run.
    LocksNotTested {
        /// What the system said, in words.
        reason: String,
    },
    /// Processes ended without releasing their locks. The files block nobody.
    StaleLocks {
        /// Lock files left.
        n_stale: u64,
    },
    /// Lock files that this user cannot lock.
    UnreadableLocks {
        /// Lock files of others.
        n_unreadable: u64,
    },
}

impl FindingKind {
    /// In one word with underscores, as JSON has it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NetworkFilesystem { .. } => "network_filesystem",
            Self::ProgramFilesystem { .. } => "program_filesystem",
            Self::ShortLived { .. } => "short_lived",
            Self::NotADirectory => "not_a_directory",
            Self::Unreachable { .. } => "unreachable",
            Self::NotCreatable { .. } => "not_creatable",
            Self::NotWritable { .. } => "not_writable",
            Self::LittleSpace { .. } => "little_space",
            Self::LocksNotExclusive => "locks_not_exclusive",
            Self::LocksNotReleased => "locks_not_released",
            Self::LocksFail => "locks_fail",
            Self::LocksNotTested { .. } => "locks_not_tested",
            Self::StaleLocks { .. } => "stale_locks",
            Self::UnreadableLocks { .. } => "unreadable_locks",
        }
    }
}

impl CheckFinding {
    /// How bad it is. A directory of entries may be read-only or missing; one of locks may not.
    #[must_use]
    pub fn severity(&self) -> Severity {
        let has_locks = self.role == Role::Local;
        match self.kind {
            FindingKind::NotWritable { .. } if !has_locks => Severity::Note,
            FindingKind::NotCreatable { .. } if !has_locks => Severity::Warning,
            FindingKind::ShortLived { .. } | FindingKind::StaleLocks { .. } => Severity::Note,
            FindingKind::ProgramFilesystem { .. }
            | FindingKind::LittleSpace { .. }
            | FindingKind::LocksNotTested { .. } => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

impl fmt::Display for CheckFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { role, path, kind } = self;
        write!(f, "{role} directory {}: {kind}", path.display())
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NetworkFilesystem { filesystem } => {
                write!(f, "locks on {filesystem} cannot be relied on; choose a directory on a local disk")
            }
            Self::ProgramFilesystem { filesystem } => {
                write!(
                    f,
                    "{filesystem} may be remote, and then locks cannot be relied on; choose a local disk"
                )
            }
            Self::ShortLived { filesystem } => {
                write!(f, "entries on {filesystem} are gone with the machine's memory or the container")
            }
            Self::NotADirectory => f.write_str("something that is no directory is in its place or above it"),
            Self::Unreachable { reason } => write!(f, "it cannot be looked at: {reason}"),
            Self::NotCreatable { below, reason } => {
                write!(f, "it is not there and cannot be made below {}: {reason}", below.display())
            }
            Self::NotWritable { reason } => write!(f, "nothing can be written to it: {reason}"),
            Self::LittleSpace { free_bytes, wanted_bytes } => {
                write!(f, "{free_bytes} bytes are free, less than {wanted_bytes}")
            }
            Self::LocksNotExclusive => {
                f.write_str("two processes got the same lock; keys would be compiled twice")
            }
            Self::LocksNotReleased => {
                f.write_str("a lock outlives its release or its process; jobs would wait for it")
            }
            Self::LocksFail => f.write_str("files cannot be locked here"),
            Self::LocksNotTested { reason } => {
                write!(f, "locks were not tested with a second process: {reason}")
            }
            Self::StaleLocks { n_stale } => {
                write!(
                    f,
                    "lock files that ended processes left: {n_stale}; they block nobody, `cache gc` removes them"
                )
            }
            Self::UnreadableLocks { n_unreadable } => {
                write!(
                    f,
                    "lock files that this user cannot lock: {n_unreadable}; their keys cannot be compiled"
                )
            }
        }
    }
}
