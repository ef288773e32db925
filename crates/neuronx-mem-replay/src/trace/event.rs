//! One event of a trace. Says what happened, not whether it makes sense.

/// What one line of a trace tells.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// `a,<id>,<bytes>,<stream>`: a tensor is allocated.
    Allocate {
        /// Its number, not in use by another live tensor.
        id: u64,
        /// Bytes asked for.
        bytes: u64,
        /// The stream, in the numbers of the trace; 0 is the default stream.
        stream: u64,
    },
    /// `f,<id>`: a tensor is freed.
    Free {
        /// Its number.
        id: u64,
    },
    /// `r,<id>,<stream>`: another stream uses a tensor.
    RecordStream {
        /// Its number.
        id: u64,
        /// The other stream.
        stream: u64,
    },
    /// `s`: the device is synchronised, typically at the end of a step.
    Synchronize,
    /// `m,<label>`: a phase or a step begins.
    Mark(Box<str>),
}

/// An event and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceLine {
    /// The line, from 1; headers and blank lines count.
    pub line: u64,
    /// The event.
    pub event: Event,
}
