//! Options of `tune`. Reads no file.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use neuronx_mem_replay::TraceInput;
use neuronx_mem_tune::TuneOptions;

use crate::arguments::MachineArguments;
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
