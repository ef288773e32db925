//! The `neuronx-mem` command: replays allocation traces and memory snapshots on a simulated device,
//! compares configurations, converts between formats. Results go to standard output, diagnostics to
//! standard error.
//!
//! Exit codes: 0 done; 1 the answer is no, such as out of memory; 2 bad usage or unreadable
//! input, with one line that names the file, the place and the reason.

#![forbid(unsafe_code)]

mod arguments;
mod cache;
mod check;
mod compare;
mod config;
mod convert;
mod diff;
mod environment;
mod explain;
mod failure;
mod finding;
mod host;
mod int64;
mod json;
mod keys;
mod leaks;
mod merge;
mod numa;
mod output;
mod plan;
mod replay;
mod shrink;
mod site;
mod size;
mod steps;
mod target;
mod tune;
mod units;
mod view;

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
        Verb::Tune(arguments) => tune::run(&arguments),
        Verb::Plan(arguments) => plan::run(&arguments),
        Verb::Check(arguments) => check::run(&arguments),
        Verb::Shrink(arguments) => shrink::run(&arguments),
        Verb::Explain(arguments) => explain::run(&arguments),
        Verb::Diff(arguments) => diff::run(&arguments),
        Verb::Leaks(arguments) => leaks::run(&arguments),
        Verb::Merge(arguments) => merge::run(&arguments),
        Verb::View(arguments) => view::run(&arguments),
        Verb::Convert(arguments) => convert::run(&arguments),
        Verb::Config(arguments) => keys::run(&arguments),
        Verb::Env(arguments) => environment::run(&arguments),
        Verb::Cache(arguments) => cache::run(&arguments),
        Verb::Int64(arguments) => int64::run(&arguments),
        Verb::Host(arguments) => host::run(&arguments),
        Verb::Numa(arguments) => numa::run(&arguments),
    };
    match result {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(failure) => output::complain(&failure),
    }
}
