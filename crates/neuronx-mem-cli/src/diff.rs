//! The verb `diff`: what two runs allocate differently.

mod object;
mod text;

use std::ffi::OsString;

use clap::Args;
use neuronx_mem_explain::{Diff, DiffOptions, Input, ReadOptions, Run};
use neuronx_mem_replay::TraceInput;
pub(crate) use text::change;

use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::steps::{StepArguments, warn_of_skipped};

#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// Trace or snapshot of the first run
    #[arg(value_name = "A")]
    first: OsString,
    /// Trace or snapshot of the second run
    #[arg(value_name = "B")]
    second: OsString,
    #[command(flatten)]
    steps: StepArguments,
    /// Take frames for the same wherever in their file they stand
    #[arg(long)]
    ignore_lines: bool,
    /// Device of the snapshots [default: the first]
    #[arg(long, value_name = "N")]
    device: Option<usize>,
    /// Sites shown
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Frames shown of each call stack
    #[arg(long, value_name = "N", default_value_t = 3)]
    frames: usize,
    /// Skip and count wrong lines of a trace instead of refusing it
    #[arg(long)]
    lenient: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &DiffArguments) -> Result<Answer, Failure> {
    let read = ReadOptions { is_lenient: arguments.lenient, device_idx: arguments.device };
    let run = |argument: &OsString| Run::of(&Input::read(&TraceInput::from_argument(argument), &read)?);
    let (first, second) = (run(&arguments.first)?, run(&arguments.second)?);
    for run in [&first, &second] {
        warn_of_skipped(&run.name, run.n_skipped);
    }
    let mut options = DiffOptions::default();
    options.steps = arguments.steps.rule();
    options.ignores_lines = arguments.ignore_lines;
    let diff = Diff::of(&first, &second, &options)?;
    let names = [first.name.as_str(), second.name.as_str()];
    let text = if arguments.json {
        object::line(names, &diff)?
    } else {
        text::text(names, &diff, arguments.top, arguments.frames)
    };
    output::print(&text)?;
    Ok(Answer::Yes)
}
