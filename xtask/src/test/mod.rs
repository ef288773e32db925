//! `cargo xtask test`: the tests of every crate, one line a crate.
//!
//! Knows which crates were asked for and adds up what their suites say. A suite is a file here: it
//! returns outcomes by package name. Unit, integration and snapshot tests are one suite
//! ([`binaries`]), the examples in the documentation another ([`examples`]), what Python reads and
//! starts a third ([`python`]), what a browser shows a fourth ([`browser`]), and the models of
//! concurrent code, which run alone, a fifth ([`exhaustive`]).

mod binaries;
mod browser;
mod examples;
mod exhaustive;
mod outcome;
mod python;
mod selection;
#[cfg(test)]
mod tests;

use std::process::Command;

use self::outcome::Outcome;
use self::selection::Selection;
use crate::failure::Failure;
use crate::steps::seconds;
use crate::workspace::Workspace;

/// One line for the table of commands.
pub(crate) const SUMMARY: &str = "unit, snapshot, integration and documentation tests, crate by crate";

/// The text of `cargo xtask test --help`.
pub(crate) const HELP: &str = "\
Usage: cargo xtask test [CRATE...] [--accept] [--python] [--browser] [--exhaustive]

Runs the unit, snapshot and integration tests and the documentation examples of every crate, or of
the named ones, and prints one line a crate. Names work with and without `neuronx-mem-`. The output
of a crate that fails is shown in full. The last line is `N passed, N failed`.

  --accept   write new and changed snapshots; without it a snapshot that differs is a failure
  --python   also let Python and PyTorch's memory visualizer read what the command writes, torchrun
             start the launcher, and build, install and use the Python package
  --browser  also let headless Chromium open the pages that `view` writes; pictures of four states are
             left in target/browser/pictures
  --exhaustive
             run the models of concurrent code under the model checker instead, in every order of
             their threads, and say of each whether that was the full space or up to a number of
             preemptions; takes minutes

Needs Rust and the dependencies of the workspace; no network, no other tool. With `--python` also
python3, and PyPI the first time: on Linux that is all of PyTorch, some five gigabytes below target/.
With `--browser` also node 20 or later, npm, and its registry the first time (one package below target/);
Chromium is found on PATH, or where CHROMIUM says. Chromium itself runs without a network.
";

/// Runs the command.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let workspace = Workspace::load()?;
    let selection = Selection::parse(&workspace, arguments)?;
    let total = match test(&workspace, &selection) {
        Ok(total) => total,
        // What cannot be built or started counts as one failure: the last line never says that all is well.
        Err(failure) => {
            failure.print();
            Outcome::failure()
        }
    };
    println!("{}", total.summary());
    if total.failed == 0 { Ok(()) } else { Err(Failure::Reported) }
}

fn test(workspace: &Workspace, selection: &Selection<'_>) -> Result<Outcome, Failure> {
    if selection.is_exhaustive() {
        return exhaustive::run(workspace, selection);
    }
    let built = binaries::build(workspace, selection)?;
    let mut outcomes = examples::run(workspace, selection)?;
    let mut total = Outcome::default();
    for member in selection.members() {
        binaries::run(workspace, member, &built, selection.snapshots(), &mut outcomes)?;
        let outcome = outcomes.take(&member.name);
        report(&member.name, &outcome);
        total.add(&outcome);
    }
    if selection.has_browser() {
        let outcome = browser::run(workspace, &built);
        report(browser::NAME, &outcome);
        total.add(&outcome);
    }
    if selection.has_python() {
        let outcome = python::run(workspace, &built);
        report(python::NAME, &outcome);
        total.add(&outcome);
    }
    Ok(total)
}

/// One line a crate; all of its output when it failed.
fn report(name: &str, outcome: &Outcome) {
    if outcome.failed > 0 {
        println!("{}", outcome.output);
    }
    println!("{}", line(name, outcome));
    if outcome.failed > 0 {
        let name = match name {
            python::NAME => "--python xtask",
            browser::NAME => "--browser xtask",
            name => name,
        };
        eprintln!("to run it again: cargo xtask test {name}");
    }
}

fn line(name: &str, outcome: &Outcome) -> String {
    let word = if outcome.failed == 0 { "ok" } else { "FAILED" };
    let failed = if outcome.failed == 0 { String::new() } else { format!(", {} failed", outcome.failed) };
    format!("{name:<26} {word:<6} {:>9}  {:>5} passed{failed}", seconds(outcome.elapsed), outcome.passed)
}

/// Tells the snapshot tests whether they may write.
///
/// Both variables are set or removed in every run: what the caller's shell holds must not decide
/// whether a snapshot changes in silence.
fn set_snapshot_mode(command: &mut Command, snapshots: Snapshots) {
    let mode = match snapshots {
        Snapshots::Check => "no",
        Snapshots::Accept => "always",
    };
    command.env("INSTA_UPDATE", mode).env_remove("INSTA_FORCE_PASS");
}

/// What happens to a snapshot that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Snapshots {
    /// The test fails and no file changes.
    Check,
    /// The file is written.
    Accept,
}
