//! `cargo xtask docs`: the documentation builds without a warning, and generated pages are fresh.
//!
//! Knows how to call rustdoc, and which program prints which page. A page that is generated from code
//! has a step of its own that compares it with what the code says; none is written here.

use std::process::Command;
use std::{env, fs};

use crate::failure::{Failure, expect_no_arguments};
use crate::process;
use crate::steps::{self, AfterFailure, Step};
use crate::workspace::Workspace;

/// One line for the table of commands.
pub(crate) const SUMMARY: &str = "build the documentation, warnings denied; compare generated pages";

/// The text of `cargo xtask docs --help`.
pub(crate) const HELP: &str = "\
Usage: cargo xtask docs

Builds the pages of every library of the workspace with rustdoc. A warning is an error: a broken
link, an unclosed tag, an item without documentation. Then compares docs/environment.md with the
registry of variables; to bring the page up to date:
  cargo run -q -p neuronx-mem-config --example environment_page > docs/environment.md
";

/// The page of all environment variables, from the root.
const ENVIRONMENT_PAGE: &str = "docs/environment.md";

/// What prints it.
const PRINT_ENVIRONMENT_PAGE: &[&str] =
    &["run", "-q", "-p", "neuronx-mem-config", "--example", "environment_page"];

const STEPS: &[Step] =
    &[Step { name: "rustdoc", run: rustdoc }, Step { name: "env page", run: environment_page }];

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
    command.env("RUSTDOCFLAGS", denying_warnings(env::var("RUSTDOCFLAGS").ok().as_deref()));
    process::run(command)
}

fn environment_page() -> Result<(), Failure> {
    let workspace = Workspace::load()?;
    let path = workspace.root().join(ENVIRONMENT_PAGE);
    let committed = fs::read_to_string(&path)
        .map_err(|error| Failure::Broken(format!("cannot read {ENVIRONMENT_PAGE}: {error}")))?;
    let command = process::cargo(workspace.root(), PRINT_ENVIRONMENT_PAGE);
    let shown = process::describe(&command);
    let generated = standard_output(command)?;
    match first_difference(&committed, &generated) {
        None => Ok(()),
        Some(difference) => Err(Failure::Broken(format!(
            "{ENVIRONMENT_PAGE}:{difference}\nto bring it up to date: {shown} > {ENVIRONMENT_PAGE}"
        ))),
    }
}

/// Shows the command, runs it and returns what it prints; its diagnostics go to the screen.
fn standard_output(mut command: Command) -> Result<String, Failure> {
    process::announce(&command);
    command.stderr(std::process::Stdio::inherit());
    let output = command.output().map_err(|error| {
        Failure::Broken(format!("cannot start `{}`: {error}", process::describe(&command)))
    })?;
    if !output.status.success() {
        return Err(Failure::Reported);
    }
    String::from_utf8(output.stdout)
        .map_err(|_| Failure::Broken(format!("`{}` prints no text", process::describe(&command))))
}

/// `12: ...`, the first line that differs with both versions of it; `None` when nothing does.
fn first_difference(committed: &str, generated: &str) -> Option<String> {
    if committed == generated {
        return None;
    }
    // With their ends, so that a missing one differs too.
    let mut committed = committed.split_inclusive('\n');
    let mut generated = generated.split_inclusive('\n');
    let mut number = 1;
    loop {
        match (committed.next(), generated.next()) {
            (Some(old), Some(new)) if old == new => number += 1,
            (old, new) => {
                let (old, new) = (shown(old), shown(new));
                return Some(format!("{number}: the page is stale\n  committed: {old}\n  generated: {new}"));
            }
        }
    }
}

/// A line in quotes, with its end visible.
fn shown(line: Option<&str>) -> String {
    line.map_or("the end of the page".to_owned(), |line| format!("{line:?}"))
}

/// The caller's flags with warnings denied on top.
fn denying_warnings(flags: Option<&str>) -> String {
    format!("{} -D warnings", flags.unwrap_or_default()).trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[track_caller]
    fn check(committed: &str, generated: &str, expected: Option<&str>) {
        assert_eq!(first_difference(committed, generated).as_deref(), expected);
    }

    #[test]
    fn the_first_line_that_differs_is_shown() {
        check("", "", None);
        check("a\nb\n", "a\nb\n", None);
        check(
            "a\nb\nc\n",
            "a\nB\nC\n",
            Some("2: the page is stale\n  committed: \"b\\n\"\n  generated: \"B\\n\""),
        );
        check(
            "a\n",
            "a\nb\n",
            Some("2: the page is stale\n  committed: the end of the page\n  generated: \"b\\n\""),
        );
        check("a\nb", "a\nb\n", Some("2: the page is stale\n  committed: \"b\"\n  generated: \"b\\n\""));
        check("a\r\n", "a\n", Some("1: the page is stale\n  committed: \"a\\r\\n\"\n  generated: \"a\\n\""));
    }
}
