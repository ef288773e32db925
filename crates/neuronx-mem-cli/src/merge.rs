//! The verb `merge`: the ranks of one job side by side.

mod object;
mod text;

use std::path::PathBuf;

use clap::Args;
use neuronx_mem_explain::{Merged, ReadOptions, rank_files};

use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::steps::{StepArguments, warn_of_skipped};

#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// Directory with one trace or snapshot a rank
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    steps: StepArguments,
    /// Device of the snapshots [default: the first of each]
    #[arg(long, value_name = "N")]
    device: Option<usize>,
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

pub(crate) fn run(arguments: &MergeArguments) -> Result<Answer, Failure> {
    let files = rank_files(&arguments.directory)?;
    let read = ReadOptions { is_lenient: arguments.lenient, device_idx: arguments.device };
    let merged = Merged::of(&files, &read, arguments.steps.rule())?;
    merged.ranks.iter().for_each(|rank| warn_of_skipped(&rank.input, rank.n_skipped));
    let text = if arguments.json { object::line(&merged)? } else { text::text(&merged, arguments.frames) };
    output::print(&text)?;
    Ok(Answer::Yes)
}
