//! What a call to the worker can refuse or report. After a refusal nothing was submitted.

use crate::{StreamError, StreamId, Ticket};

/// Why a call to the worker did not do what it says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The process forked after the worker had started: its thread exists in the parent only.
    #[error(
        "Cannot re-initialize Neuron runtime in forked subprocess. \
         To use Neuron with multiprocessing, use the 'spawn' start method"
    )]
    Forked {
        /// The process that started the worker.
        started_in: u32,
        /// The process that called.
        called_from: u32,
    },
    /// The worker has been shut down; what was submitted before has run.
    #[error("the worker of device {device} has been shut down")]
    ShutDown {
        /// The device ordinal.
        device: u32,
    },
    /// A work item of the stream panicked; the stream takes no work until it is reset.
    #[error("work {} of stream {stream} panicked: {message}", ticket.0)]
    StreamPoisoned {
        /// The stream.
        stream: StreamId,
        /// The work that panicked.
        ticket: Ticket,
        /// The text of the panic, at most [`MAX_PANIC_BYTES`](super::MAX_PANIC_BYTES) long.
        message: String,
    },
    /// The worker's own thread asked to wait for itself.
    #[error("`{call}` would wait for the worker of device {device} on its own thread")]
    WaitInWorker {
        /// The device ordinal.
        device: u32,
        /// The call that would have waited.
        call: &'static str,
    },
    /// A stream, event or signal belongs to another worker.
    #[error("the {what} belongs to device {owner} and was used with another worker, of device {user}")]
    OtherWorker {
        /// What was handed over.
        what: &'static str,
        /// The device that it belongs to.
        owner: u32,
        /// The device it was used with.
        user: u32,
    },
    /// No time can be told between two events.
    #[error("the {event} event has no time: {reason}")]
    NoEventTime {
        /// `start` or `end`.
        event: &'static str,
        /// Why.
        reason: MissingTime,
    },
    /// A priority above the highest.
    #[error("priority {level} is above the highest, {highest}")]
    PriorityTooHigh {
        /// The level asked for.
        level: u8,
        /// The highest there is.
        highest: u8,
    },
    /// The result was taken by an earlier call.
    #[error("the result of work {} of stream {stream} was taken before", ticket.0)]
    ResultTaken {
        /// The stream.
        stream: StreamId,
        /// The work.
        ticket: Ticket,
    },
    /// The system did not start the thread.
    #[error("cannot start the worker of device {device}: {message}")]
    ThreadNotStarted {
        /// The device ordinal.
        device: u32,
        /// The system's words.
        message: String,
    },
    /// A stream that does not exist.
    #[error(transparent)]
    Stream(#[from] StreamError),
}

/// Why an event has no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MissingTime {
    /// It was made without timing.
    #[error("it is not timed")]
    NotTimed,
    /// It was never recorded.
    #[error("it was never recorded")]
    NeverRecorded,
    /// The work before it has not completed yet.
    #[error("it has not completed")]
    NotCompleted,
    /// Its stream was poisoned before it was reached.
    #[error("its stream was poisoned before it was reached")]
    Dropped,
}
