//! Why a command did not succeed, and the exit code that says so.
//!
//! Knows nothing of the commands. A failure that was already shown prints no second time, so that
//! the last line of `cargo xtask test` stays the line that CI reads.

use std::fmt;
use std::process::ExitCode;

/// Why a command did not succeed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The command line is wrong. Exit code 2.
    Usage(String),
    /// A program does not start, a file cannot be read, an answer cannot be understood. Exit code 1.
    Broken(String),
    /// A check failed and its output is on the screen. Exit code 1, no further text.
    Reported,
}

impl Failure {
    /// Prints what is not on the screen yet.
    pub(crate) fn print(&self) {
        if !matches!(self, Self::Reported) {
            eprintln!("error: {self}");
        }
    }

    /// Prints what is not on the screen yet and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        self.print();
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Broken(_) | Self::Reported => ExitCode::FAILURE,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Broken(message) => formatter.write_str(message),
            Self::Reported => formatter.write_str("a check failed; its output is above"),
        }
    }
}

/// Refuses any argument, for commands that take none.
pub(crate) fn expect_no_arguments(command: &str, arguments: &[String]) -> Result<(), Failure> {
    match arguments.first() {
        None => Ok(()),
        Some(argument) => Err(Failure::Usage(format!("`{command}` takes no arguments, got `{argument}`"))),
    }
}
