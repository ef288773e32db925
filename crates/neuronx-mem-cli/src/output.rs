//! The two ends that people and scripts read: standard output for results, standard error for
//! everything else. A reader that has gone is no error.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use tracing::Level;

use crate::failure::Failure;

/// Exit code of bad usage and unreadable input.
pub(crate) const BAD_USAGE: u8 = 2;

/// What the exit code says once the work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
}

/// Sends warnings to standard error, one line each.
pub(crate) fn start_diagnostics() {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(Level::WARN)
        .with_writer(io::stderr)
        .without_time()
        .with_target(false)
        .log_internal_errors(false)
        .finish();
    // There is no other subscriber in this process; without one, warnings are lost and no more.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// Prints a result as a whole.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Says why nothing was done, and gives the exit code for it.
pub(crate) fn complain(reason: &impl Display) -> ExitCode {
    let line = reason.to_string().replace(['\n', '\r'], " ");
    // Without a standard error only the exit code is left to tell.
    let _ = writeln!(io::stderr(), "neuronx-mem: error: {line}");
    BAD_USAGE.into()
}
