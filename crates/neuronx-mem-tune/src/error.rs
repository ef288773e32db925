//! What searching, planning, checking and shrinking can fail with. That a trace runs out of memory
//! or exceeds its budget is an answer, not an error.

use neuronx_mem_replay::ReplayError;

use crate::budget::BudgetFault;
use crate::shrink::EffectFault;
use crate::sweep::JobFault;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuneError {
    /// An input could not be read.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// There is no input to tune for.
    #[error("there is no input to tune for")]
    NoInput,
    /// An input allocates nothing, so that no setting matters.
    #[error("{input}: allocates nothing")]
    NothingAllocated {
        /// Name of the input.
        input: String,
    },
    /// The tensors of an input come to 2^62 bytes or more: no program's, and sums of them overflow.
    #[error("{input}: allocates 2^62 bytes or more in all, which no program does")]
    TooManyBytes {
        /// Name of the input.
        input: String,
    },
    /// A request of an input does not fit 64 bits once it is rounded.
    #[error("{input}: a request of {requested_bytes} bytes is too large to round")]
    SizeOverflow {
        /// Name of the input.
        input: String,
        /// Bytes asked for.
        requested_bytes: u64,
    },
    /// A job of a sweep is not valid.
    #[error(transparent)]
    Job(#[from] JobFault),
    /// The results of a round do not answer its questions.
    #[error("{n_results} results for {n_jobs} evaluations")]
    WrongResults {
        /// Evaluations that were asked for.
        n_jobs: usize,
        /// Results that came back.
        n_results: usize,
    },
    /// Whoever runs the jobs has failed.
    #[error("the jobs could not be run: {reason}")]
    Evaluator {
        /// What it said.
        reason: String,
    },
    /// A budget file is not valid.
    #[error(transparent)]
    Budget(#[from] BudgetFault),
    /// An effect cannot be read.
    #[error(transparent)]
    Effect(#[from] EffectFault),
    /// The whole trace does not show the effect.
    #[error("{input}: does not show `{effect}`: {found}")]
    NoEffect {
        /// Name of the input.
        input: String,
        /// The effect that was asked for.
        effect: String,
        /// What the trace comes to instead.
        found: String,
    },
}
