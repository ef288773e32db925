//! `cargo xtask lint`: format, clippy, the house rules, the dependency rules.
//!
//! Knows which tools are asked. Installs none: a missing `cargo-deny` is said and skipped, because
//! everything else has to work on a machine that has only Rust.

use crate::failure::{Failure, expect_no_arguments};
use crate::process;
use crate::steps::{self, AfterFailure, Step};
use crate::tidy;
use crate::workspace::Workspace;

/// One line for the table of commands.
pub(crate) const SUMMARY: &str = "rustfmt, clippy, tidy and cargo-deny";

/// The text of `cargo xtask lint --help`.
pub(crate) const HELP: &str = "\
Usage: cargo xtask lint

Runs all of these, and fails when any of them does:
  cargo fmt --all --check
  cargo clippy --workspace --all-targets -- -D warnings
  cargo xtask tidy
  cargo deny check            (when cargo-deny is installed)
";

const STEPS: &[Step] = &[
    Step { name: "fmt", run: fmt },
    Step { name: "clippy", run: clippy },
    Step { name: "tidy", run: || tidy::run(&[]) },
];

const DENY: Step = Step { name: "deny", run: deny };

/// Runs the command.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    expect_no_arguments("lint", arguments)?;
    let mut steps = STEPS.to_vec();
    if has_deny()? {
        steps.push(DENY);
    } else {
        eprintln!("skipped: cargo-deny is not installed; licences, duplicates and sources are not checked");
    }
    steps::run(&steps, AfterFailure::Continue)
}

fn fmt() -> Result<(), Failure> {
    let workspace = Workspace::load()?;
    process::run(process::cargo(workspace.root(), &["fmt", "--all", "--check"]))
}

fn clippy() -> Result<(), Failure> {
    let workspace = Workspace::load()?;
    let mut command = process::cargo(workspace.root(), &["clippy", "--workspace", "--all-targets"]);
    command.args(workspace.feature_arguments()).args(["--", "-D", "warnings"]);
    process::run(command)
}

fn deny() -> Result<(), Failure> {
    let workspace = Workspace::load()?;
    process::run(process::cargo(workspace.root(), &["deny", "check"]))
}

fn has_deny() -> Result<bool, Failure> {
    let workspace = Workspace::load()?;
    Ok(process::capture(process::cargo(workspace.root(), &["deny", "--version"]))?.success)
}
