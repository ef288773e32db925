//! Tests in Python, `tests/python/`: it reads what the command writes, torchrun starts the launcher, and
//! the package is built, installed and used, without PyTorch and as its device.
//!
//! Knows how to make an environment below `target/` with PyTorch's memory visualizer and, on Linux, with
//! PyTorch itself, and the closing lines of Python's `unittest`. Needs `python3`, and PyPI the first time.

mod package;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::binaries::{Binary, binary_of};
use super::outcome::Outcome;
use crate::failure::Failure;
use crate::process;
use crate::workspace::Workspace;

/// How the suite is called in the list of crates.
pub(super) const NAME: &str = "python";

/// The programs under test, each with the variable that says where it is.
const PROGRAMS: [(&str, &str); 2] =
    [("neuronx-mem", "NEURONX_MEM"), ("neuron-numa-launch", "NEURON_NUMA_LAUNCH")];

/// The scripts, below the root.
const SCRIPTS: &str = "tests/python";

/// What the scripts need from outside, below the root.
const REQUIREMENTS: &str = "tests/python/requirements.txt";
/// The scripts in which torchrun starts the launcher, below the root.
const LAUNCHER_SCRIPTS: &str = "tests/python/launcher";

/// The environment, below the root.
const ENVIRONMENT: &str = "target/python-venv";

/// The module that is fetched, below its folder.
const MODULE: &str = "torch/cuda/_memory_viz.py";

/// What pip installs for the scripts that need it: PyTorch, and models for its tests. Pinned, as in
/// the file above.
const TORCH: [&str; 2] = ["torch==2.15.0", "transformers==5.24.0"];

/// Says what is there once it is whole, below its folder.
const TORCH_MARK: &str = "installed";

/// Runs the suite; what keeps it from running is one failure.
pub(super) fn run(workspace: &Workspace, built: &[Binary]) -> Outcome {
    tested(workspace, built).unwrap_or_else(|failure| {
        failure.print();
        Outcome::failure()
    })
}

fn tested(workspace: &Workspace, built: &[Binary]) -> Result<Outcome, Failure> {
    let root = workspace.root();
    let mut programs = Vec::new();
    for (name, variable) in PROGRAMS {
        programs.push((variable, program(root, built, name)?));
    }
    let python = environment(root)?;
    let modules = modules(root, &python)?;
    let mut outcome = discovered(root, &python, SCRIPTS, Some(&modules), &programs)?;
    if cfg!(target_os = "linux") {
        // A folder of its own: beside the visualizer, the package would be loaded with it each time.
        let torch = torch(root, &python)?;
        outcome.add(&discovered(root, &python, LAUNCHER_SCRIPTS, Some(&torch), &programs)?);
        outcome.add(&package::tested(root, &python, Some(&torch))?);
    } else {
        outcome.add(&package::tested(root, &python, None)?);
        eprintln!("skipped: {LAUNCHER_SCRIPTS}; the launcher is for Linux");
    }
    Ok(outcome)
}

/// Runs the tests of one folder.
fn discovered(
    root: &Path,
    python: &Path,
    scripts: &str,
    modules: Option<&Path>,
    programs: &[(&str, PathBuf)],
) -> Result<Outcome, Failure> {
    let mut command = Command::new(python);
    command.current_dir(root).args(["-m", "unittest", "discover", "--start-directory", scripts]);
    command.envs(programs.iter().map(|(variable, program)| (variable, program)));
    command.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("PYTHONPATH");
    command.envs(modules.map(|modules| ("PYTHONPATH", modules)));
    let mut ran = process::capture(command)?;
    let (passed, failed) = result_of(&ran.text, ran.success);
    ran.text.insert_str(0, &format!("---- python: {scripts}\n"));
    Ok(Outcome { passed, failed, elapsed: ran.elapsed, output: ran.text })
}

/// A program of the workspace: as built for the tests, or built now.
pub(super) fn program(root: &Path, built: &[Binary], name: &str) -> Result<PathBuf, Failure> {
    match built.iter().find(|binary| is_program(binary, name)) {
        Some(binary) => Ok(binary.executable.clone()),
        None => build(root, name),
    }
}

fn is_program(binary: &Binary, name: &str) -> bool {
    binary.target == name && !binary.is_test
}

/// Builds a program when the selected crates did not.
fn build(root: &Path, name: &str) -> Result<PathBuf, Failure> {
    let mut command = process::cargo(root, &["build", "--bin", name]);
    process::announce(&command);
    command.args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
    let output =
        command.output().map_err(|error| Failure::Broken(format!("cannot start cargo build: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let binary = text.lines().filter_map(binary_of).find(|binary| is_program(binary, name));
    binary.map(|binary| binary.executable).ok_or_else(|| Failure::Broken(format!("`{name}` does not build")))
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
    probe.args(["-c", "import distributed, maturin, mypy"]).stdout(Stdio::null()).stderr(Stdio::null());
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

/// The folder with PyTorch and what it needs, some five gigabytes; installed when it is not there.
fn torch(root: &Path, python: &Path) -> Result<PathBuf, Failure> {
    let folder = root.join(ENVIRONMENT).join("torch");
    let mark = folder.join(TORCH_MARK);
    let wanted = TORCH.join("\n");
    if fs::read_to_string(&mark).ok().as_deref() != Some(&wanted) {
        let mut command = Command::new(python);
        command.current_dir(root).args(["-m", "pip", "install", "--quiet", "--no-cache-dir", "--upgrade"]);
        command.arg("--target").arg(&folder).args(TORCH);
        process::run(command)?;
        fs::write(&mark, &wanted)
            .map_err(|error| Failure::Broken(format!("cannot write {}: {error}", mark.display())))?;
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
