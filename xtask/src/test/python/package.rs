//! The Python package: built, installed into the environment, and used.
//!
//! Knows where its tests are: those that must do without PyTorch, and those in which it is PyTorch's
//! device. Installs what the checkout holds, with the profile of the tests, and nothing from outside.

use std::env;
use std::path::Path;
use std::process::Command;

use super::{Outcome, discovered};
use crate::failure::Failure;
use crate::process;

/// The package, below the root.
const FOLDER: &str = "crates/neuronx-mem-python";

/// The tests that do without PyTorch, below the root.
const SCRIPTS: &str = "tests/python/package";

/// The tests with PyTorch, below the root.
const TORCH_SCRIPTS: &str = "tests/python/torch";

/// Says to the tests where PyTorch is, for those that look at types.
const TORCH_VARIABLE: &str = "NEURONX_MEM_TEST_TORCH";

/// Builds and installs the package, then runs its tests.
pub(super) fn tested(root: &Path, python: &Path, torch: Option<&Path>) -> Result<Outcome, Failure> {
    install(root, python)?;
    let folders: Vec<_> = torch.map(|torch| (TORCH_VARIABLE, torch.to_owned())).into_iter().collect();
    let mut outcome = discovered(root, python, SCRIPTS, None, &folders)?;
    if let Some(torch) = torch
        && root.join(TORCH_SCRIPTS).is_dir()
    {
        outcome.add(&discovered(root, python, TORCH_SCRIPTS, Some(torch), &[])?);
    }
    Ok(outcome)
}

/// Installs the package as `pip install .` does, but with the compiled parts of the tests' profile.
fn install(root: &Path, python: &Path) -> Result<(), Failure> {
    let mut command = Command::new(python);
    command.current_dir(root).args(["-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]);
    command.args(["--no-build-isolation", "--force-reinstall"]);
    command.args(["--config-settings=build-args=--profile dev", FOLDER]);
    // The builder's own programs are beside the interpreter.
    let beside = python.parent().map(Path::to_owned);
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(env::split_paths(&path));
    let path = env::join_paths(folders).map_err(|error| Failure::Broken(format!("PATH: {error}")))?;
    command.env("PATH", path);
    process::run(command)
}
