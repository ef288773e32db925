//! Options of `tune`. Reads no file.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use neuronx_mem_replay::TraceInput;
use neuronx_mem_tune::{Effect, TuneOptions};

use crate::arguments::MachineArguments;
use crate::failure::Failure;
use crate::shrink::{ShrinkArguments, parse_effect};
use crate::size::parse_size;

#[derive(Debug, Args)]
pub(crate) struct TuneArguments {
    /// Traces or snapshots of the runs to tune for
    #[arg(value_name = "INPUT", required_unless_present = "job")]
    inputs: Vec<OsString>,
    #[command(flatten)]
    machine: MachineArguments,
    /// Largest segment to propose; 4GiB where the runtime cannot allocate more in one piece [default:
    /// the device less 1 GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_segment: Option<u64>,
    /// Seconds after which the search ends; a search that ends by itself is the same every time
    #[arg(long, value_name = "N", default_value_t = 60)]
    budget_s: u64,
    /// Threads [default: one a core]
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    pub(crate) jobs: Option<usize>,
    /// Start of the pseudo-random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Leave out the cross-validation
    #[arg(long)]
    no_validation: bool,
    /// Skip and count wrong lines instead of refusing the trace
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Search nothing: write the few events of the one input that show the effect of --until, as the
    /// verb shrink does
    #[arg(long, value_name = "OUT", conflicts_with_all = ["max_segment", "jobs", "drive", "job"])]
    pub(crate) shrink: Option<PathBuf>,
    /// With --shrink: what the result must still show, as for the verb shrink [default: oom]
    #[arg(long, value_name = "EFFECT", requires = "shrink", value_parser = parse_effect)]
    until: Option<Effect>,
    /// With --shrink: only leave events out, and merge no tensors
    #[arg(long, requires = "shrink")]
    keep_sizes: bool,
    /// With --shrink: the allocator configuration; without it the environment's applies
    #[arg(long, value_name = "KEY=VALUE,…", requires = "shrink")]
    config: Option<String>,
    /// Run one job of a sweep, JSON from standard input to standard output
    #[arg(long, hide = true, conflicts_with_all = ["inputs", "drive"])]
    pub(crate) job: bool,
    /// Let the other end of standard input and output run the jobs: a line `{"jobs":[…]}` a round, a
    /// line `{"results":[…]}` back, and the result of --json at the end
    #[arg(long, hide = true)]
    pub(crate) drive: bool,
}

impl TuneArguments {
    pub(crate) fn inputs(&self) -> Vec<TraceInput> {
        self.inputs.iter().map(TraceInput::from_argument).collect()
    }

    /// The arguments of the verb shrink, when that is what is asked for.
    pub(crate) fn shrinking(&self) -> Result<Option<ShrinkArguments>, Failure> {
        let Some(output) = &self.shrink else { return Ok(None) };
        let [input] = self.inputs.as_slice() else {
            return Err(Failure::ShrinksOne { n_inputs: self.inputs.len() });
        };
        Ok(Some(ShrinkArguments {
            input: input.clone(),
            until: self.until.unwrap_or(Effect::OutOfMemory),
            output: output.clone(),
            keep_sizes: self.keep_sizes,
            machine: self.machine.clone(),
            config: self.config.clone(),
            lenient: self.lenient,
            json: self.json,
        }))
    }

    pub(crate) fn options(&self) -> TuneOptions {
        let mut options = TuneOptions::new(self.machine.machine());
        options.max_segment_bytes = self.max_segment.unwrap_or(options.max_segment_bytes);
        options.time_budget = Some(Duration::from_secs(self.budget_s));
        options.seed = self.seed;
        options.is_cross_validated = !self.no_validation;
        options
    }
}

fn parse_jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..=4096).contains(&n) => Ok(n),
        _ => Err("threads must be a number from 1 to 4096".to_owned()),
    }
}
