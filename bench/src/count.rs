//! One cell run a given number of times and nothing else: what valgrind counts.

use std::process::ExitCode;

use crate::subject;
use crate::workload::Workload;

/// Runs `SUBJECT WORKLOAD REPEATS`; prints the steps that were run, to divide by.
pub fn run(arguments: &[String]) -> ExitCode {
    let [subject, workload, repeats] = arguments else { return ExitCode::from(2) };
    let (Ok(workload), Ok(repeats)) = (Workload::by_name(workload), repeats.parse::<usize>()) else {
        return ExitCode::from(2);
    };
    let mut runner = subject::make(subject, &workload);
    runner.run(&workload, repeats);
    println!("{}", workload.steps.len() * repeats);
    ExitCode::SUCCESS
}
