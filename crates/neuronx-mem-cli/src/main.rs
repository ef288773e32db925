//! The `neuronx-mem` command: replays allocation traces on a simulated device and compares
//! configurations. Results go to standard output, diagnostics to standard error.
//!
//! Exit codes: 0 done; 1 the answer is no, such as out of memory; 2 bad usage or unreadable
//! input, with one line that names the file, the place and the reason.

#![forbid(unsafe_code)]

mod arguments;
mod compare;
mod config;
mod failure;
mod json;
mod output;
mod replay;
mod size;
mod units;

use std::process::ExitCode;

use arguments::Verb;
use output::Answer;

fn main() -> ExitCode {
    output::start_diagnostics();
    let verb = match arguments::read() {
        Ok(verb) => verb,
        Err(code) => return code,
    };
    let result = match verb {
        Verb::Replay(arguments) => replay::run(&arguments),
        Verb::Compare(arguments) => compare::run(&arguments),
    };
    match result {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(failure) => output::complain(&failure),
    }
}
