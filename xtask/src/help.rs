//! `cargo xtask help`: the list of commands, or the text of one.
//!
//! Knows only the table in `main.rs`.

use std::fmt::Write as _;

use crate::failure::Failure;
use crate::{COMMANDS, find};

/// One line for the table of commands.
pub(crate) const SUMMARY: &str = "this list, or the text of one command";

/// The text of `cargo xtask help --help`.
pub(crate) const HELP: &str = "\
Usage: cargo xtask help [COMMAND]

Lists the commands, or prints the text of one.
";

/// Runs the command.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    match arguments {
        [] => print!("{}", overview()),
        [name] => print!("{}", find(name)?.help),
        _ => return Err(Failure::Usage("`help` takes one command name".to_owned())),
    }
    Ok(())
}

fn overview() -> String {
    let mut text = "Usage: cargo xtask COMMAND [ARGUMENT...]\n\n".to_owned();
    for command in COMMANDS {
        // Writing into a String does not fail.
        let _ = writeln!(text, "  {:<6} {}", command.name, command.summary);
    }
    text.push_str(
        "\n`cargo xtask COMMAND --help` says more. Exit codes: 0 passed, 1 failed, 2 wrong usage.\n",
    );
    text
}
