//! What a view can fail with. A device that ran out of memory is part of the picture, not an error.

use neuronx_mem_replay::ReplayError;

/// Why there is nothing to look at. The one-line message names the input and the reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The input cannot be read or replayed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// More allocations than can be numbered.
    #[error("{input}: has more than {limit} allocations")]
    TooLarge {
        /// Name of the input.
        input: String,
        /// Most that can be numbered.
        limit: u32,
    },
    /// The page could not be written.
    #[error("the page cannot be written: {0}")]
    Write(#[from] std::io::Error),
    /// The viewer for a terminal was asked for where there is none.
    #[cfg(feature = "terminal")]
    #[error("standard output is no terminal that can be drawn on")]
    NoTerminal,
    /// The terminal cannot be read or written.
    #[cfg(feature = "terminal")]
    #[error("terminal: {0}")]
    Terminal(#[source] std::io::Error),
}
