//! `neuron-ls`: where it is, and what it prints.
//!
//! Knows how to find a program and how long to wait for it. Refuses to know what the output means.

mod run;

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{NumaError, SystemRoot};

/// How long `neuron-ls` may take.
pub const TOOL_LIMIT: Duration = Duration::from_secs(5);

/// Its name.
const NAME: &str = "neuron-ls";

/// Where the Neuron tools are installed, relative to `/`.
const TOOLS: &str = "opt/aws/neuron/bin";

/// The program `neuron-ls`, found and not yet asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeuronLs {
    path: PathBuf,
    limit: Duration,
}

impl NeuronLs {
    /// Looks for `neuron-ls` in the directories of `PATH`, which is handed in, then where the Neuron
    /// tools are installed.
    ///
    /// # Errors
    ///
    /// [`NumaError::ToolMissing`] when it is in neither.
    pub fn find(search_path: Option<&OsStr>, root: &SystemRoot) -> Result<Self, NumaError> {
        let installed = || Some(root.path(TOOLS).join(NAME)).filter(|path| is_executable(path));
        let found = find_on_path(NAME, search_path).or_else(installed);
        found.map(Self::at).ok_or(NumaError::ToolMissing)
    }

    /// Takes the program at this path for `neuron-ls`.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), limit: TOOL_LIMIT }
    }

    /// Replaces [`TOOL_LIMIT`].
    #[must_use]
    pub fn with_limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Returns where the program is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `neuron-ls --json-output` and returns what it writes to standard output.
    ///
    /// A program that takes too long is killed, with the processes it has started. Cost: one process.
    ///
    /// # Errors
    ///
    /// One of the `Tool…` variants of [`NumaError`].
    pub fn json(&self) -> Result<Vec<u8>, NumaError> {
        run::output(&self.path, self.limit)
    }
}

/// Looks for an executable file of this name in the directories of `PATH`, in their order.
///
/// Relative directories count from the working directory; empty ones are passed over, where a shell
/// would take the working directory.
pub fn find_on_path(name: &str, search_path: Option<&OsStr>) -> Option<PathBuf> {
    let directories = env::split_paths(search_path?).filter(|directory| !directory.as_os_str().is_empty());
    directories.map(|directory| directory.join(name)).find(|path| is_executable(path))
}

/// A file that somebody may execute; whether this process may, the system says when it is tried.
pub(crate) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
