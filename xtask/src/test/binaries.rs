//! Unit, integration and snapshot tests: the binaries that `cargo test` builds.
//!
//! All are built by one call, then run directly. A `cargo test -p` for every crate would unite
//! features anew each time and build the same libraries again and again.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::outcome::{Outcome, Outcomes};
use super::selection::Selection;
use super::{Snapshots, set_snapshot_mode};
use crate::failure::Failure;
use crate::process;
use crate::workspace::{Member, Workspace};

/// One executable that `cargo` built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Binary {
    /// The package it belongs to, as `cargo` identifies it.
    pub(super) package_id: String,
    /// The name of its target.
    pub(super) target: String,
    /// True for a test, false for a program that tests may start.
    pub(super) is_test: bool,
    /// Where it is.
    pub(super) executable: PathBuf,
}

/// Builds every test of the selection and returns the executables.
pub(super) fn build(workspace: &Workspace, selection: &Selection<'_>) -> Result<Vec<Binary>, Failure> {
    let mut command = process::cargo(workspace.root(), &["test", "--no-run"]);
    command.args(selection.cargo_arguments());
    process::announce(&command);
    // Diagnostics and progress go to the screen, the list of executables comes to us.
    command.args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
    let output =
        command.output().map_err(|error| Failure::Broken(format!("cannot start cargo test: {error}")))?;
    if !output.status.success() {
        return Err(Failure::Broken("the tests do not build".to_owned()));
    }
    let mut binaries: Vec<Binary> =
        String::from_utf8_lossy(&output.stdout).lines().filter_map(binary_of).collect();
    binaries.sort_by(|a, b| (&a.target, &a.executable).cmp(&(&b.target, &b.executable)));
    Ok(binaries)
}

/// Runs the tests of one crate, as `cargo test` would: in its folder and with its variables.
pub(super) fn run(
    workspace: &Workspace,
    member: &Member,
    built: &[Binary],
    snapshots: Snapshots,
    outcomes: &mut Outcomes,
) -> Result<(), Failure> {
    let own: Vec<&Binary> = built.iter().filter(|binary| binary.package_id == member.id).collect();
    for test in own.iter().filter(|binary| binary.is_test) {
        let folder = workspace.root().join(&member.folder);
        let mut command = Command::new(&test.executable);
        command.current_dir(&folder);
        command.env("CARGO_MANIFEST_DIR", &folder).env("CARGO_MANIFEST_PATH", folder.join("Cargo.toml"));
        command.env("CARGO_PKG_NAME", &member.name).env("CARGO_PKG_VERSION", &member.version);
        for program in own.iter().filter(|binary| !binary.is_test) {
            command.env(format!("CARGO_BIN_EXE_{}", program.target), &program.executable);
        }
        set_snapshot_mode(&mut command, snapshots);
        let mut outcome = Outcome::of_run(process::capture(command)?);
        outcome.output.insert_str(0, &format!("---- {}: {}\n", member.name, test.target));
        outcomes.add(&member.name, &outcome);
    }
    Ok(())
}

/// The executable in one line of `cargo`'s messages, when the line tells of one.
pub(super) fn binary_of(line: &str) -> Option<Binary> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message["reason"] != "compiler-artifact" {
        return None;
    }
    let is_test = message["profile"]["test"].as_bool()?;
    let is_program = message["target"]["kind"].as_array()?.iter().any(|kind| kind == "bin");
    if !is_test && !is_program {
        return None;
    }
    Some(Binary {
        package_id: message["package_id"].as_str()?.to_owned(),
        target: message["target"]["name"].as_str()?.to_owned(),
        is_test,
        executable: PathBuf::from(message["executable"].as_str()?),
    })
}
