//! The verb `leaks`: what grows step after step.

mod object;
mod text;

use std::ffi::OsString;

use clap::Args;
use neuronx_mem_explain::{Input, LeakOptions, Leaks, ReadOptions, Run};
use neuronx_mem_replay::TraceInput;

use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::steps::{StepArguments, warn_of_skipped};

#[derive(Debug, Args)]
pub(crate) struct LeaksArguments {
    /// Trace (CSV, or JSON lines in a file; plain or compressed) or snapshot with a history; `-` is
    /// standard input
    #[arg(value_name = "INPUT")]
    input: OsString,
    #[command(flatten)]
    steps: StepArguments,
    /// Steps at the beginning that do not count
    #[arg(long, value_name = "N", default_value_t = LeakOptions::default().warm_up)]
    warm_up: usize,
    /// Take a rise for a leak only when chance makes one as clear less often than this
    #[arg(long, value_name = "P", default_value_t = LeakOptions::default().max_chance, value_parser = chance)]
    max_chance: f64,
    /// Device of a snapshot [default: the first]
    #[arg(long, value_name = "N")]
    device: Option<usize>,
    /// Leaks shown
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Frames shown of each call stack
    #[arg(long, value_name = "N", default_value_t = 5)]
    frames: usize,
    /// Skip and count wrong lines of a trace instead of refusing it
    #[arg(long)]
    lenient: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &LeaksArguments) -> Result<Answer, Failure> {
    let read = ReadOptions { is_lenient: arguments.lenient, device_idx: arguments.device };
    let run = Run::of(&Input::read(&TraceInput::from_argument(&arguments.input), &read)?)?;
    warn_of_skipped(&run.name, run.n_skipped);
    let mut options = LeakOptions::default();
    options.steps = arguments.steps.rule();
    options.warm_up = arguments.warm_up;
    options.max_chance = arguments.max_chance;
    let leaks = Leaks::of(&run, &options)?;
    let text = if arguments.json { object::line(&run, &leaks)? } else { text::text(&run, &leaks, arguments) };
    output::print(&text)?;
    Ok(if leaks.leaks.is_empty() { Answer::Yes } else { Answer::No })
}

fn chance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(chance) if (0.0..=1.0).contains(&chance) => Ok(chance),
        _ => Err("a probability is a number from 0 to 1".to_owned()),
    }
}
