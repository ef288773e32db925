//! `cargo xtask docs`: the documentation builds without a warning.
//!
//! Knows how to call rustdoc. A page that is generated from code gets a step of its own that
//! compares the page with what the code says.

use std::env;

use crate::failure::{Failure, expect_no_arguments};
use crate::process;
use crate::steps::{self, AfterFailure, Step};
use crate::workspace::Workspace;

/// One line for the table of commands.
pub(crate) const SUMMARY: &str = "build the documentation, warnings denied";

/// The text of `cargo xtask docs --help`.
pub(crate) const HELP: &str = "\
Usage: cargo xtask docs

Builds the pages of every library of the workspace with rustdoc. A warning is an error: a broken
link, an unclosed tag, an item without documentation.
";

const STEPS: &[Step] = &[Step {
    name: "rustdoc",
    run: rustdoc,
}];

/// Runs the command.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    expect_no_arguments("docs", arguments)?;
    steps::run(STEPS, AfterFailure::Continue)
}

fn rustdoc() -> Result<(), Failure> {
    let workspace = Workspace::load()?;
    // Libraries only: the binary `neuronx-mem` and the library `neuronx_mem` would write the same page.
    let mut command = process::cargo(workspace.root(), &["doc", "--workspace", "--no-deps", "--lib"]);
    command.args(workspace.feature_arguments());
    command.env(
        "RUSTDOCFLAGS",
        denying_warnings(env::var("RUSTDOCFLAGS").ok().as_deref()),
    );
    process::run(command)
}

/// The caller's flags with warnings denied on top.
fn denying_warnings(flags: Option<&str>) -> String {
    format!("{} -D warnings", flags.unwrap_or_default())
        .trim_start()
        .to_owned()
}
