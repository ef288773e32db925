//! What makes a step, for the verbs that look at steps; and the warning of lines that were left out.

use std::num::NonZeroU64;

use clap::Args;
use neuronx_mem_explain::StepRule;

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct StepArguments {
    /// A step has this many events [default: by marks that count, else by synchronisations]
    #[arg(long, value_name = "N")]
    every: Option<NonZeroU64>,
}

impl StepArguments {
    pub(crate) fn rule(self) -> StepRule {
        self.every.map_or(StepRule::Marks, StepRule::Every)
    }
}

/// Says what `--lenient` left out, so that nobody takes the answer for the whole trace's.
pub(crate) fn warn_of_skipped(input: &str, n_skipped: u64) {
    if n_skipped > 0 {
        tracing::warn!("{input}: {n_skipped} wrong lines skipped");
    }
}
