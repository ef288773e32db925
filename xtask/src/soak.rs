//! `cargo xtask soak`: builds the soak program of the workspace tests and runs it for some seconds.
//!
//! Knows its arguments. What is done and checked is the program's business (`tests/soak`).

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::failure::Failure;
use crate::process;
use crate::workspace::Workspace;

/// One line for the table of commands.
pub(crate) const SUMMARY: &str = "eight threads over four streams, millions of operations";

/// The text of `cargo xtask soak --help`.
pub(crate) const HELP: &str = "\
Usage: cargo xtask soak [--seconds N] [--seed S]

Eight threads allocate, free, record, pass blocks on, submit and complete work in random order on four
streams, on a simulated device that is too small, with the device's worker and without, for N seconds (60
unless said) and two million operations at least. Fails, with the seed, when

  - two blocks overlap, or memory comes back before the work that its free waits for has completed
  - a reading of the statistics or the pool itself breaks an invariant (allocator semantics §1)
  - an epoch leaves a block, a segment or device memory behind
  - the host's memory grows from epoch to epoch
  - threads get stuck

The seed decides what each thread does, not how the threads interleave: the same seed again shows a
failure that needs no rare interleaving. A new one is taken from the clock unless it is given.
";

/// Seconds unless said.
const DEFAULT_SECONDS: u64 = 60;

/// Seconds and seed of a command line.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    seconds: u64,
    seed: Option<u64>,
}

/// Runs the command.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let Wanted { seconds, seed } = parse(arguments)?;
    let workspace = Workspace::load()?;
    let root = workspace.root();
    let build = ["build", "--release", "--package", "neuronx-mem-tests", "--example", "soak"];
    process::run(process::cargo(root, &build))?;
    let mut command = Command::new(root.join("target/release/examples/soak"));
    command.current_dir(root).arg(seconds.to_string()).arg(seed.unwrap_or_else(from_clock).to_string());
    process::run(command)
}

fn parse(arguments: &[String]) -> Result<Wanted, Failure> {
    let mut wanted = Wanted { seconds: DEFAULT_SECONDS, seed: None };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let number = arguments.next().and_then(|text| text.parse().ok());
            number.ok_or_else(|| Failure::Usage(format!("{argument} takes a whole number")))
        };
        match argument.as_str() {
            "--seconds" => wanted.seconds = number()?,
            "--seed" => wanted.seed = Some(number()?),
            _ => {
                let message = format!("`soak` takes --seconds and --seed, got `{argument}`");
                return Err(Failure::Usage(message));
            }
        }
    }
    Ok(wanted)
}

/// A seed that is short enough to type.
fn from_clock() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| u64::from(time.subsec_nanos()))
}

#[cfg(test)]
mod tests {
    use super::{Wanted, parse};
    use crate::failure::Failure;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn arguments_in_any_order() {
        assert_eq!(parse(&[]), Ok(Wanted { seconds: 60, seed: None }));
        assert_eq!(parse(&words("--seed 7 --seconds 5")), Ok(Wanted { seconds: 5, seed: Some(7) }));
    }

    #[test]
    fn what_is_no_argument_is_a_usage_error() {
        for (text, message) in [
            ("--seconds", "--seconds takes a whole number"),
            ("--seed -1", "--seed takes a whole number"),
            ("5", "`soak` takes --seconds and --seed, got `5`"),
        ] {
            assert_eq!(parse(&words(text)), Err(Failure::Usage(message.to_owned())));
        }
    }
}
