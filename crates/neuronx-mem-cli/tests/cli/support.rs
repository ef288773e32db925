//! Starts the command and waits for it; a folder for the files of one test. Asserts nothing.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The variable that most tests must not inherit.
pub(crate) const CONFIG: &str = "TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG";

/// How a run ended and what it printed.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Exit code, standard output, standard error.
    pub(crate) fn parts(self) -> (i32, String, String) {
        (self.code, self.out, self.err)
    }
}

/// The root of the workspace, which the test data's names start from.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The command in the workspace's root, so that paths in its output are the same everywhere.
pub(crate) fn in_root(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuronx-mem"));
    command.current_dir(root()).args(arguments).env_remove(CONFIG).stdin(Stdio::null());
    command
}

/// The command with nothing of the environment of the tests left.
pub(crate) fn in_clean_environment(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuronx-mem"));
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

pub(crate) fn outcome(command: &mut Command) -> Ran {
    Ran::of(command.output().unwrap())
}

pub(crate) fn outcome_with_input(command: Command, input: &[u8]) -> Ran {
    Ran::of(output_with_input(command, input))
}

/// As bytes, for what is no text.
pub(crate) fn output_with_input(mut command: Command, input: &[u8]) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It may have refused its arguments, or have seen enough, before all is written.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// A folder that goes when the test ends.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Where it is.
    pub(crate) fn name(&self) -> &str {
        self.0.path().to_str().unwrap()
    }

    /// Where something in it is.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file, and gives its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    /// The names in it, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}
