//! The project's own commands, run as `cargo xtask COMMAND`.
//!
//! This file knows the table of commands and how a result becomes an exit code. What a command
//! does is in the file of its name. Nothing here needs more than Rust: no argument crate, no
//! network once the dependencies are there, no tool that `cargo` does not bring.

#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command for people and for CI: its text is its result"
)]

mod bench;
mod ci;
mod docs;
mod failure;
mod floors;
mod fuzz;
mod help;
mod lint;
mod process;
mod soak;
mod steps;
mod test;
mod tidy;
mod vendor;
mod workspace;

use std::process::ExitCode;

use crate::failure::Failure;

/// One row of the table of commands.
struct Command {
    /// What stands after `cargo xtask`.
    name: &'static str,
    /// One line for `cargo xtask help`.
    summary: &'static str,
    /// The whole text for `cargo xtask COMMAND --help`.
    help: &'static str,
    /// Takes the arguments after the name.
    run: fn(&[String]) -> Result<(), Failure>,
}

/// Every command, in the order in which `help` lists them. A new command is a file and a row.
const COMMANDS: &[Command] = &[
    Command { name: "test", summary: test::SUMMARY, help: test::HELP, run: test::run },
    Command { name: "bench", summary: bench::SUMMARY, help: bench::HELP, run: bench::run },
    Command { name: "soak", summary: soak::SUMMARY, help: soak::HELP, run: soak::run },
    Command { name: "fuzz", summary: fuzz::SUMMARY, help: fuzz::HELP, run: fuzz::run },
    Command { name: "docs", summary: docs::SUMMARY, help: docs::HELP, run: docs::run },
    Command { name: "lint", summary: lint::SUMMARY, help: lint::HELP, run: lint::run },
    Command { name: "tidy", summary: tidy::SUMMARY, help: tidy::HELP, run: tidy::run },
    Command { name: "vendor", summary: vendor::SUMMARY, help: vendor::HELP, run: vendor::run },
    Command { name: "ci", summary: ci::SUMMARY, help: ci::HELP, run: ci::run },
    Command { name: "help", summary: help::SUMMARY, help: help::HELP, run: help::run },
];

fn main() -> ExitCode {
    // Lossy, because a name that is not UTF-8 is an unknown name, not a reason to panic.
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn dispatch(arguments: &[String]) -> Result<(), Failure> {
    let Some((name, rest)) = arguments.split_first() else {
        return help::run(&[]);
    };
    if is_help_flag(name) {
        return help::run(&[]);
    }
    let command = find(name)?;
    if rest.iter().any(|argument| is_help_flag(argument)) {
        return help::run(std::slice::from_ref(name));
    }
    (command.run)(rest)
}

/// The row of a command, or a usage error that lists the names.
fn find(name: &str) -> Result<&'static Command, Failure> {
    COMMANDS.iter().find(|command| command.name == name).ok_or_else(|| {
        let names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
        Failure::Usage(format!("unknown command `{name}`; the commands are {}", names.join(", ")))
    })
}

fn is_help_flag(argument: &str) -> bool {
    argument == "--help" || argument == "-h"
}
