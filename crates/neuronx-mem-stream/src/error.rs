//! What the queue's owner can get wrong. The queue is unchanged after any of them.

use crate::StreamId;

/// A call that names a stream or work that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The stream was never added.
    #[error("stream {stream} is unknown: the device has {n_streams}")]
    UnknownStream {
        /// The stream named.
        stream: StreamId,
        /// How many there are, from 0.
        n_streams: u32,
    },
    /// Work is reported complete that was never submitted.
    #[error("work {completed} of stream {stream} is complete, but only {submitted} was submitted")]
    CompletedBeforeSubmitted {
        /// The stream.
        stream: StreamId,
        /// The ticket reported.
        completed: u64,
        /// The last ticket given out.
        submitted: u64,
    },
    /// The set of recorded streams does not exist, or its block has been freed.
    #[error("recorded set {number} is unknown")]
    UnknownRecord {
        /// The number of the set.
        number: u32,
    },
    /// All 2^32 - 1 slots for queued deallocations, recorded sets or streams are taken.
    #[error("no slot is left for another {what}")]
    OutOfSlots {
        /// What there is no room for.
        what: &'static str,
    },
}
