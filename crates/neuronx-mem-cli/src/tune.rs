//! The verb `tune`: searches the allocator keys for recorded runs. Sweeps run here, or as jobs of
//! whoever drives this process.

mod arguments;
mod remote;
mod show;

use std::io::{self, Read};

use indicatif::{ProgressBar, ProgressStyle};
use neuronx_mem_replay::{Trace, TraceInput};
use neuronx_mem_tune::{Job, LocalSweep, Phase, TuneProgress, Workload, tune};

pub(crate) use arguments::TuneArguments;
use remote::RemoteSweep;

use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::{json, shrink};

/// The most that a job may be, bytes.
const MAX_JOB_BYTES: u64 = 64 << 20;

pub(crate) fn run(arguments: &TuneArguments) -> Result<Answer, Failure> {
    if arguments.job {
        return job();
    }
    if let Some(arguments) = arguments.shrinking()? {
        return shrink::run(&arguments);
    }
    if let Some(jobs) = arguments.jobs {
        // A second pool in one process could only come from a second call.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(jobs).build_global();
    }
    let read = |input: &TraceInput| workload(input, arguments.lenient);
    let workloads = arguments.inputs().iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let options = arguments.options();
    let progress = bar(arguments);
    let mut observer = |now: &TuneProgress| show_progress(&progress, now);
    let tuning = if arguments.drive {
        let mut sweep = RemoteSweep::new(&workloads, arguments.lenient, options.machine);
        tune(&workloads, &options, &mut sweep, &mut observer)?
    } else {
        tune(&workloads, &options, &mut LocalSweep::new(&workloads, options.machine), &mut observer)?
    };
    progress.finish_and_clear();
    let is_json = arguments.json || arguments.drive;
    let text =
        if is_json { show::json(&tuning, &options)? } else { show::text(&tuning, &options, &workloads) };
    output::print(&text)?;
    Ok(if tuning.robust.num_ooms.min(tuning.best.num_ooms) > 0 { Answer::No } else { Answer::Yes })
}

/// Reads an input and makes it ready for many passes.
pub(crate) fn workload(input: &TraceInput, is_lenient: bool) -> Result<Workload, Failure> {
    Ok(Workload::of_trace(&Trace::read_input(input, is_lenient)?)?)
}

/// One job from standard input, its result to standard output.
fn job() -> Result<Answer, Failure> {
    let mut text = String::new();
    io::stdin()
        .take(MAX_JOB_BYTES)
        .read_to_string(&mut text)
        .map_err(|source| Failure::JobUnread { source })?;
    let job: Job = serde_json::from_str(&text).map_err(|source| Failure::Job { source })?;
    let workload = workload(&TraceInput::from_argument(&job.input), job.is_lenient)?;
    output::print(&json::line(&job.run(&workload)?)?)?;
    Ok(Answer::Yes)
}

/// Shown on a terminal only, and never beside results that a program reads.
fn bar(arguments: &TuneArguments) -> ProgressBar {
    if arguments.json || arguments.drive {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{elapsed:>4} {msg}") {
        bar.set_style(style);
    }
    bar
}

fn show_progress(bar: &ProgressBar, now: &TuneProgress) {
    let phase = match now.phase {
        Phase::Known => "known settings",
        Phase::Varying => "varying the best",
        Phase::Robustness => "larger and smaller runs",
        Phase::CrossValidation => "cross-validation",
        _ => "searching",
    };
    let (evaluated, ratio) = (now.evaluated, now.best_ratio);
    bar.set_message(format!("{phase}: {evaluated} evaluated, reserved over live {ratio:.4}"));
    bar.tick();
}
