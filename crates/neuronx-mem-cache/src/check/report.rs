//! What a check saw of each directory.

use std::fmt;
use std::path::PathBuf;

use super::{CheckFinding, Filesystem, Severity};
use crate::LockSurvey;

/// What a directory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Compiled NEFF files; may be shared and may be read-only.
    Neff,
    /// Lowered HLO; the same.
    Hlo,
    /// Lock files and scratch files; has to be local and writable.
    Local,
}

impl Role {
    /// In one word, as JSON has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Neff => "neff",
            Self::Hlo => "hlo",
            Self::Local => "local",
        }
    }

    /// The variable that places it.
    #[must_use]
    pub const fn variable(self) -> &'static str {
        match self {
            Self::Neff => "TORCH_NEURONX_NEFF_CACHE_DIR",
            Self::Hlo => "TORCH_NEURONX_HLO_CACHE_DIR",
            Self::Local => "TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Neff => "NEFF",
            Self::Hlo => "HLO",
            Self::Local => "local",
        })
    }
}

/// Whether a directory is there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// It exists.
    Exists,
    /// It does not, and can be made.
    Creatable {
        /// The nearest directory above it that exists.
        below: PathBuf,
    },
    /// It does not, and cannot be made; or something else is in its place.
    Blocked,
}

/// What came of the lock test with a second process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LockSupport {
    /// Locks exclude, are released, and end with their process.
    Works,
    /// They do not; the findings say how.
    Fails,
    /// No locks are kept here, or no file could be made for the test.
    NotTested,
}

/// One directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DirectoryReport {
    /// What it is for.
    pub role: Role,
    /// Where it is.
    pub path: PathBuf,
    /// Whether it is there.
    pub state: State,
    /// Whether files can be made and written, in it or where it would be made.
    pub is_writable: bool,
    /// What it is, or would be, on.
    pub filesystem: Filesystem,
    /// Bytes that can still be written there.
    pub free_bytes: u64,
    /// Size of the file system in bytes.
    pub total_bytes: u64,
    /// Whether locks work.
    pub locks: LockSupport,
    /// The lock files in it; all 0 for directories without locks.
    pub survey: LockSurvey,
}

/// What a check saw, and what of it is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// The directories, in the order asked for.
    pub directories: Vec<DirectoryReport>,
    /// What is wrong with them, in the same order.
    pub findings: Vec<CheckFinding>,
}

impl CheckReport {
    /// Whether there is nothing worse than notes.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity() == Severity::Note)
    }
}
