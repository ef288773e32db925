//! `cargo xtask ci`: everything that has to pass before a change lands.
//!
//! Knows the order of the checks. Adds none of its own.

use crate::failure::{Failure, expect_no_arguments};
use crate::steps::{self, AfterFailure, Step};
use crate::{docs, lint, test};

/// One line for the table of commands.
pub(crate) const SUMMARY: &str = "lint, test and docs, up to the first failure";

/// The text of `cargo xtask ci --help`.
pub(crate) const HELP: &str = "\
Usage: cargo xtask ci

Runs `lint`, `test` and `docs` in this order, stops at the first that fails, and closes with a
table of their times.
";

const STEPS: &[Step] = &[
    Step { name: "lint", run: || lint::run(&[]) },
    Step { name: "test", run: || test::run(&[]) },
    Step { name: "docs", run: || docs::run(&[]) },
];

/// Runs the command.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    expect_no_arguments("ci", arguments)?;
    steps::run(STEPS, AfterFailure::Stop)
}
