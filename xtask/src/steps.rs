//! Named steps that run one after the other and end in a table of their times.
//!
//! Knows order, clock and result. What a step does is its own business.

use std::time::{Duration, Instant};

use crate::failure::Failure;

/// One step of a command.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// The name in the table.
    pub(crate) name: &'static str,
    /// The work.
    pub(crate) run: fn() -> Result<(), Failure>,
}

/// What happens after a step that fails.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterFailure {
    /// The remaining steps do not run.
    Stop,
    /// The remaining steps run, so that one call shows everything that is wrong.
    Continue,
}

/// Runs the steps and prints a table `name result seconds` to standard error.
///
/// Fails when any step failed.
pub(crate) fn run(steps: &[Step], after_failure: AfterFailure) -> Result<(), Failure> {
    let mut rows = Vec::new();
    let mut failed = false;
    for step in steps {
        if failed && after_failure == AfterFailure::Stop {
            rows.push(format!("{:<8} not run", step.name));
            continue;
        }
        let start = Instant::now();
        let result = (step.run)();
        if let Err(failure) = &result {
            failure.print();
            failed = true;
        }
        let word = if result.is_ok() { "ok" } else { "FAILED" };
        rows.push(format!("{:<8} {word:<7} {:>9}", step.name, seconds(start.elapsed())));
    }
    for row in rows {
        eprintln!("{row}");
    }
    if failed { Err(Failure::Reported) } else { Ok(()) }
}

/// Seconds with two decimals, for lines that people read.
pub(crate) fn seconds(duration: Duration) -> String {
    format!("{:.2} s", duration.as_secs_f64())
}
