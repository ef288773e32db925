//! What can fail, where, and with which numbers. Judges nothing and repeats nothing.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{CacheKey, Holder};

/// The call to the system that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Creating a directory.
    CreateDirectory,
    /// Creating a file.
    CreateFile,
    /// Writing to a file.
    Write,
    /// Forcing a file or a directory to disk.
    Sync,
    /// Moving a finished file to its place.
    Rename,
    /// Removing a file.
    Remove,
    /// Listing a directory.
    List,
    /// Asking for a file's size or age.
    Inspect,
    /// Locking a file.
    Lock,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CreateDirectory => "create directory",
            Self::CreateFile => "create file",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Rename => "rename to",
            Self::Remove => "remove",
            Self::List => "list",
            Self::Inspect => "inspect",
            Self::Lock => "lock",
        })
    }
}

/// Why the cache could not do what it was asked. A miss is no error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The disk, the quota or the file-size limit has no room. Nothing stored before is lost.
    #[error("cannot {operation} {}: no space left for {bytes} bytes: {source}", path.display())]
    StorageFull {
        /// The call that failed.
        operation: Operation,
        /// The file or directory it was for.
        path: PathBuf,
        /// Bytes of the whole entry; 0 where there is none.
        bytes: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The directory is read-only, or belongs to somebody else.
    #[error("cannot {operation} {}: {source}", path.display())]
    NotWritable {
        /// The call that failed.
        operation: Operation,
        /// The file or directory it was for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Any other failure of the file system.
    #[error("cannot {operation} {}: {source}", path.display())]
    Io {
        /// The call that failed.
        operation: Operation,
        /// The file or directory it was for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An entry without bytes counts as missing, so it is not stored.
    #[error("entry {key} has no bytes, and an empty entry cannot be told from a missing one")]
    EmptyEntry {
        /// The key it was for.
        key: CacheKey,
    },
    /// Somebody holds the lock of the key for longer than the caller waits.
    #[error("lock {} is still held after {:.1} s{}", path.display(), waited.as_secs_f64(), by(holder.as_ref()))]
    LockTimeout {
        /// The key whose lock it is.
        key: CacheKey,
        /// The lock file.
        path: PathBuf,
        /// How long was waited.
        waited: Duration,
        /// Who wrote its name into the lock file, when that can be read.
        holder: Option<Holder>,
    },
}

impl CacheError {
    /// Whether there was no room: disk, quota or file-size limit.
    #[must_use]
    pub const fn is_storage_full(&self) -> bool {
        matches!(self, Self::StorageFull { .. })
    }

    /// Whether the directory may not be written.
    #[must_use]
    pub const fn is_not_writable(&self) -> bool {
        matches!(self, Self::NotWritable { .. })
    }

    /// Whether the wait for a lock ended without it.
    #[must_use]
    pub const fn is_lock_timeout(&self) -> bool {
        matches!(self, Self::LockTimeout { .. })
    }

    /// Sorts an error of the system.
    pub(crate) fn from_io(operation: Operation, path: &Path, bytes: usize, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::StorageFull { operation, path, bytes: u64::try_from(bytes).unwrap_or(u64::MAX), source }
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::NotWritable { operation, path, source }
            }
            _ => Self::Io { operation, path, source },
        }
    }

    /// Whether a file or directory was gone, as when a collection removes an empty shard.
    pub(crate) fn is_vanished(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

fn by(holder: Option<&Holder>) -> String {
    holder.map_or(String::new(), |holder| format!(" by {holder}"))
}
