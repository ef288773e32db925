//! Which Python the launcher starts.
//!
//! Knows the order of the places. Refuses to start it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::find_on_path;
use crate::tool::is_executable;

/// The names that are tried, in this order.
const NAMES: [&str; 2] = ["python3", "python"];

/// Why there is no Python to start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PythonError {
    /// None in any place.
    #[error("python3 is neither beside the launcher nor on PATH; PYTHON_EXEC can name it")]
    Missing,
    /// `PYTHON_EXEC` names nothing that is there.
    #[error("PYTHON_EXEC: {}: no such program", program.to_string_lossy())]
    NotFound {
        /// Its value.
        program: OsString,
    },
    /// `PYTHON_EXEC` names a file that cannot be executed.
    #[error("PYTHON_EXEC: {}: not executable", path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
}

impl PythonError {
    /// Returns what a shell would exit with: 126 for a file that is not executable, else 127.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::NotExecutable { .. } => 126,
            _ => 127,
        }
    }

    /// Returns the exit code for an error of the call that executes a program.
    pub fn exit_code_of(error: &io::Error) -> u8 {
        if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 }
    }
}

/// Finds Python: `PYTHON_EXEC`, which `torchrun` knows too, else `python3` or `python` in the folder of
/// the launcher, as in a virtual environment, else on `PATH`.
///
/// # Errors
///
/// [`PythonError`] when there is none, or not the one that was asked for.
pub fn find_python(
    python_exec: Option<&OsStr>,
    launcher_folder: Option<&Path>,
    search_path: Option<&OsStr>,
) -> Result<PathBuf, PythonError> {
    if let Some(program) = python_exec.filter(|program| !program.is_empty()) {
        return named(program, search_path);
    }
    let beside = || {
        let folder = launcher_folder?;
        NAMES.iter().map(|name| folder.join(name)).find(|path| is_executable(path))
    };
    let on_path = || NAMES.iter().find_map(|name| find_on_path(name, search_path));
    beside().or_else(on_path).ok_or(PythonError::Missing)
}

/// A path when there is a slash in it, else a name on `PATH`.
fn named(program: &OsStr, search_path: Option<&OsStr>) -> Result<PathBuf, PythonError> {
    let not_found = || PythonError::NotFound { program: program.to_owned() };
    if !program.as_encoded_bytes().contains(&b'/') {
        return program.to_str().and_then(|name| find_on_path(name, search_path)).ok_or_else(not_found);
    }
    let path = PathBuf::from(program);
    match path.is_file() {
        true if is_executable(&path) => Ok(path),
        true => Err(PythonError::NotExecutable { path }),
        false => Err(not_found()),
    }
}
