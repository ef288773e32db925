//! The two ends that people and scripts read: standard output for results, standard error for
//! everything else. A reader that has gone is no error.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use neuronx_mem::config::{Environment, LogLevel};
use terminal_size::{Width, terminal_size_of};
use tracing::Level;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;

use crate::failure::Failure;

/// Exit code of bad usage and unreadable input.
pub(crate) const BAD_USAGE: u8 = 2;

/// Columns of a table that goes to a file or to another program.
const DEFAULT_WIDTH: usize = 120;

/// A narrower terminal wraps lines by itself.
const MIN_WIDTH: usize = 60;

/// What the exit code says once the work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
}

/// Sends what `TORCH_NEURONX_LOG_LEVEL` lets through to standard error, one line each; warnings and
/// errors unless set. What is wrong with the variable is for the verb `env` to say.
pub(crate) fn start_diagnostics() {
    let (level, _) = LogLevel::from_environment(Environment::process());
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(max_level(level))
        .with_writer(io::stderr)
        .without_time()
        .with_target(false)
        .log_internal_errors(false)
        .finish()
        // A replay prints the whole report itself.
        .with(filter_fn(|metadata| metadata.target() != "neuronx_mem::oom"));
    // There is no other subscriber in this process; without one, warnings are lost and no more.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

fn max_level(level: LogLevel) -> Level {
    match level {
        LogLevel::Error => Level::ERROR,
        LogLevel::Warning => Level::WARN,
        LogLevel::Info => Level::INFO,
        LogLevel::Debug => Level::DEBUG,
    }
}

/// Prints a result as a whole.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// How many columns there are for a table: the terminal's, else `COLUMNS`, else enough for most.
pub(crate) fn width() -> usize {
    if let Some((Width(width), _)) = terminal_size_of(io::stdout()) {
        return usize::from(width).max(MIN_WIDTH);
    }
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    columns.map_or(DEFAULT_WIDTH, |columns: u16| usize::from(columns).max(MIN_WIDTH))
}

/// Says why nothing was done, and gives the exit code for it.
pub(crate) fn complain(reason: &impl Display) -> ExitCode {
    let line = reason.to_string().replace(['\n', '\r'], " ");
    // Without a standard error only the exit code is left to tell.
    let _ = writeln!(io::stderr(), "neuronx-mem: error: {line}");
    BAD_USAGE.into()
}
