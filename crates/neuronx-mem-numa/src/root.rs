//! Where `/sys`, `/proc` and the tools are.
//!
//! Knows one directory that stands for `/`, so that everything can be tried on a copy of another
//! machine's files. Refuses to fail on a file that is not there: the callers have other sources.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files of the kernel that are read whole are small; a copy may be anything.
const MAX_BYTES: u64 = 1 << 20;

/// The directory that stands for `/`.
///
/// ```
/// use neuronx_mem_numa::SystemRoot;
///
/// let root = SystemRoot::new("/mnt/other-machine");
/// assert_eq!(root.path("proc/self/status"), std::path::Path::new("/mnt/other-machine/proc/self/status"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemRoot(PathBuf);

/// Whose affinity and memory is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessRef {
    /// This process.
    Own,
    /// The process of this id.
    Pid(u32),
}

impl SystemRoot {
    /// Takes another directory for `/`.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self(directory.into())
    }

    /// Returns where a path, relative to `/`, is.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.0.join(relative)
    }

    /// The text of a small file, without blanks around it; none when it cannot be read as text.
    pub(crate) fn text(&self, relative: impl AsRef<Path>) -> Option<String> {
        let mut text = String::new();
        File::open(self.path(relative)).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
        Some(text.trim().to_owned())
    }

    /// A file that holds something `T` can be read from; a text that it cannot is reported.
    pub(crate) fn parsed<T>(&self, relative: impl AsRef<Path>) -> Option<T>
    where
        T: std::str::FromStr,
        T::Err: std::fmt::Display,
    {
        let relative = relative.as_ref();
        match self.text(relative)?.parse() {
            Ok(value) => Some(value),
            Err(error) => {
                tracing::warn!("{} is passed over: {error}", self.path(relative).display());
                None
            }
        }
    }
}

impl Default for SystemRoot {
    /// The machine's own `/`.
    fn default() -> Self {
        Self::new("/")
    }
}

impl ProcessRef {
    /// Its directory in `/proc`, relative to `/`.
    pub(crate) fn folder(self) -> PathBuf {
        match self {
            Self::Own => PathBuf::from("proc/self"),
            Self::Pid(pid) => PathBuf::from(format!("proc/{pid}")),
        }
    }
}
