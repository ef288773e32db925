//! Interop tests: Python reads what the command writes, `tests/python/`.
//!
//! Knows how to make an environment with PyTorch's memory visualizer below `target/`, and the closing
//! lines of Python's `unittest`. Needs `python3`, and PyPI the first time.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::binaries::{Binary, binary_of};
use super::outcome::Outcome;
use crate::failure::Failure;
use crate::process;
use crate::workspace::Workspace;

/// How the suite is called in the list of crates.
pub(super) const NAME: &str = "python";

/// The program under test.
const PROGRAM: &str = "neuronx-mem";

/// The scripts, below the root.
const SCRIPTS: &str = "tests/python";

/// What the scripts need from outside, below the root.
const REQUIREMENTS: &str = "tests/python/requirements.txt";

/// The environment, below the root.
const ENVIRONMENT: &str = "target/python-venv";

/// The module that is fetched, below its folder.
const MODULE: &str = "torch/cuda/_memory_viz.py";

/// Runs the suite; what keeps it from running is one failure.
pub(super) fn run(workspace: &Workspace, built: &[Binary]) -> Outcome {
    tested(workspace, built).unwrap_or_else(|failure| {
        failure.print();
        Outcome::failure()
    })
}

fn tested(workspace: &Workspace, built: &[Binary]) -> Result<Outcome, Failure> {
    let root = workspace.root();
    let program = match built.iter().find(|binary| is_program(binary)) {
        Some(binary) => binary.executable.clone(),
        None => build(root)?,
    };
    let python = environment(root)?;
    let modules = modules(root, &python)?;
    let mut command = Command::new(&python);
    command.current_dir(root).args(["-m", "unittest", "discover", "--start-directory", SCRIPTS]);
    command.env("NEURONX_MEM", program).env("PYTHONPATH", modules).env("PYTHONDONTWRITEBYTECODE", "1");
    let mut ran = process::capture(command)?;
    let (passed, failed) = result_of(&ran.text, ran.success);
    ran.text.insert_str(0, "---- python: interop\n");
    Ok(Outcome { passed, failed, elapsed: ran.elapsed, output: ran.text })
}

fn is_program(binary: &Binary) -> bool {
    binary.target == PROGRAM && !binary.is_test
}

/// Builds the program when the selected crates did not.
fn build(root: &Path) -> Result<PathBuf, Failure> {
    let mut command = process::cargo(root, &["build", "--bin", PROGRAM]);
    process::announce(&command);
    command.args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
    let output =
        command.output().map_err(|error| Failure::Broken(format!("cannot start cargo build: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let binary = text.lines().filter_map(binary_of).find(is_program);
    binary
        .map(|binary| binary.executable)
        .ok_or_else(|| Failure::Broken(format!("`{PROGRAM}` does not build")))
}

/// The interpreter of the environment, which is made when it is not there.
fn environment(root: &Path) -> Result<PathBuf, Failure> {
    let folder = root.join(ENVIRONMENT);
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !python.exists() {
        let mut command = Command::new("python3");
        command.current_dir(root).args(["-m", "venv", "--clear", ENVIRONMENT]);
        process::run(command)?;
    }
    let mut probe = Command::new(&python);
    probe.args(["-c", "import distributed"]).stdout(Stdio::null()).stderr(Stdio::null());
    if !probe.status().is_ok_and(|status| status.success()) {
        let mut command = Command::new(&python);
        command.current_dir(root).args(["-m", "pip", "install", "--quiet", "--requirement", REQUIREMENTS]);
        process::run(command)?;
    }
    Ok(python)
}

/// The folder of the modules, fetched when they are not there.
fn modules(root: &Path, python: &Path) -> Result<PathBuf, Failure> {
    let folder = root.join(ENVIRONMENT).join("memory-viz");
    if !folder.join(MODULE).exists() {
        let mut command = Command::new(python);
        command.current_dir(root).arg(format!("{SCRIPTS}/fetch_memory_viz.py")).arg(&folder);
        process::run(command)?;
    }
    Ok(folder)
}

/// Passed and failed of `Ran 14 tests in 8.1s` and `FAILED (failures=1, errors=2)`.
///
/// Tests that count parts of themselves may fail more often than there are tests. A run that ends
/// badly, or without having run anything, is at least one failure.
pub(super) fn result_of(text: &str, success: bool) -> (u64, u64) {
    let number = |word: &str| word.parse::<u64>().ok();
    let ran = text.lines().rev().find_map(|line| number(line.strip_prefix("Ran ")?.split(' ').next()?));
    let closing = text.lines().rev().find_map(|line| line.strip_prefix("FAILED (")?.strip_suffix(')'));
    let counts = closing.unwrap_or_default().split(", ").filter_map(|part| part.split_once('='));
    let failed: u64 =
        counts.filter(|(what, _)| ["failures", "errors"].contains(what)).filter_map(|(_, n)| number(n)).sum();
    match (ran, success) {
        (Some(ran), true) if ran > 0 => (ran, failed),
        (ran, _) => (ran.unwrap_or(0).saturating_sub(failed.max(1)), failed.max(1)),
    }
}
