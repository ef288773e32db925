//! The soak: eight threads over four streams whose work completes in random order, on the facade over
//! the simulated device, epoch after epoch. Ends well only if no invariant broke and the host's memory
//! did not grow. Knows the command line and the verdict; `cargo xtask soak` builds and runs it.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people: its text is its result")]

mod check;
mod epoch;
mod host_memory;
mod oracle;
mod random;
mod thread;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use epoch::{Driver, Soak};
use host_memory::Growth;

/// Operations that a run makes at least, whatever the seconds.
const LEAST_OPERATIONS: u64 = 2_000_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (seconds, seed) = match parse(&arguments) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    match run(Duration::from_secs(seconds), seed) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!(
                "error: {message}\nto run it again: cargo xtask soak --seconds {seconds} --seed {seed}"
            );
            ExitCode::FAILURE
        }
    }
}

/// Reads `SECONDS SEED`.
fn parse(arguments: &[String]) -> Result<(u64, u64), String> {
    let [seconds, seed] = arguments else { return Err("takes seconds and a seed".to_owned()) };
    let number = |text: &String| text.parse().map_err(|_| format!("`{text}` is no whole number"));
    Ok((number(seconds)?, number(seed)?))
}

/// Epochs by turns with the device's worker and without, each with the detector and without, until time
/// and operations are up.
fn run(time: Duration, seed: u64) -> Result<String, String> {
    println!("seed {seed}, {} threads, {} streams", epoch::N_THREADS, epoch::N_STREAMS);
    let start = Instant::now();
    let soaks: Vec<Soak> = [Driver::Caller, Driver::Worker]
        .into_iter()
        .flat_map(|driver| [false, true].map(|is_watched| Soak::new(driver, is_watched)))
        .collect::<Result<_, _>>()?;
    let (mut n_epochs, mut n_operations, mut growth) = (0, 0, Growth::default());
    while start.elapsed() < time || n_operations < LEAST_OPERATIONS || !growth.has_enough() {
        for soak in &soaks {
            n_operations += soak.run_epoch(seed, n_epochs)?;
        }
        n_epochs += 1;
        growth.note();
    }
    let verdict = growth.verdict()?;
    let counts = soaks.iter().map(Soak::summary).collect::<Vec<_>>().join("\n");
    let seconds = start.elapsed().as_secs_f64();
    Ok(format!("{counts}\n{n_operations} operations in {n_epochs} epochs and {seconds:.1} s; {verdict}"))
}
