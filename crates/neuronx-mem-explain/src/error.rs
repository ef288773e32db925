//! What an explanation can fail with. A device that ran out of memory is an answer, not an error.

use std::io;
use std::path::PathBuf;

use neuronx_mem_replay::ReplayError;

/// Why nothing can be said. The one-line message names the input and the reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// The input cannot be read or replayed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A snapshot without a history was asked about the past.
    #[error("{input}: holds no history, only the memory at one moment")]
    NoHistory {
        /// Name of the input.
        input: String,
    },
    /// A moment was chosen that the input does not show.
    #[error("{input}: a snapshot shows the moment when it was taken and no other")]
    MomentOfSnapshot {
        /// Name of the input.
        input: String,
    },
    /// An event was chosen that does not exist, or comes after memory had run out.
    #[error("{input}: event {event} is not reached: there are {n_events}")]
    NoSuchEvent {
        /// Name of the input.
        input: String,
        /// The event asked for, from 1.
        event: u64,
        /// Events that were replayed.
        n_events: u64,
    },
    /// A request that no allocator could serve.
    #[error("a request of {need_bytes} bytes cannot be made")]
    Need {
        /// Bytes asked for.
        need_bytes: u64,
    },
    /// Nothing in the input says where steps begin.
    #[error(
        "{input}: has no step marks and no synchronisations: say how many events a step has with --every"
    )]
    NoSteps {
        /// Name of the input.
        input: String,
    },
    /// A directory of ranks cannot be listed.
    #[error("{}: cannot be listed: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is nothing to compare.
    #[error("{}: holds {n_found} traces or snapshots, two are needed", path.display())]
    TooFewRanks {
        /// The directory.
        path: PathBuf,
        /// How many were found.
        n_found: usize,
    },
}
