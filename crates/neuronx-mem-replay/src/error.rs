//! What reading, writing or replaying a trace can fail with. Running out of device memory is an
//! answer, not an error: the report has it.

use std::io;

use neuronx_mem::{AllocError, BuildError};
use neuronx_mem_snapshot::Error as SnapshotError;

use crate::Fault;

/// Why a trace could not be read, written or replayed. The one-line message names the input, the
/// place in it and the reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The input could not be opened.
    #[error("{input}: cannot be opened: {source}")]
    Open {
        /// Name of the input.
        input: String,
        /// What the system said.
        source: io::Error,
    },
    /// The input is a directory.
    #[error("{input}: is a directory, not a trace")]
    IsDirectory {
        /// Name of the input.
        input: String,
    },
    /// The system failed to read on.
    #[error("{input}: cannot be read after line {line}: {source}")]
    Read {
        /// Name of the input.
        input: String,
        /// The last complete line, from 1; 0 before the first.
        line: u64,
        /// What the system said.
        source: io::Error,
    },
    /// Compressed data stops before its end.
    #[error("{input}: compressed data ends early, after line {line}")]
    Truncated {
        /// Name of the input.
        input: String,
        /// The last complete line, from 1; 0 before the first.
        line: u64,
    },
    /// Compressed data is damaged.
    #[error("{input}: compressed data is damaged after line {line}: {reason}")]
    Corrupt {
        /// Name of the input.
        input: String,
        /// The last complete line, from 1; 0 before the first.
        line: u64,
        /// What the decompressor said.
        reason: String,
    },
    /// A line breaks a rule of the format, or does not fit the lines before it.
    #[error("{input}: line {line}: {fault}")]
    Rejected {
        /// Name of the input.
        input: String,
        /// The line, from 1.
        line: u64,
        /// The rule that it breaks.
        fault: Fault,
    },
    /// A line of a trace in JSON lines is wrong.
    #[error("{input}: line {line}: {reason}")]
    Line {
        /// Name of the input.
        input: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The input ended without a single event.
    #[error("{input}: holds no events")]
    NoEvents {
        /// Name of the input.
        input: String,
    },
    /// The input is a memory snapshot that cannot be read.
    #[error("{input}: {}", with_reason(source))]
    Snapshot {
        /// Name of the input.
        input: String,
        /// What is wrong with it.
        source: SnapshotError,
    },
    /// A snapshot has no such device.
    #[error("{input}: device {device_idx} has neither events nor segments")]
    NoSuchDevice {
        /// Name of the input.
        input: String,
        /// The device asked for.
        device_idx: usize,
    },
    /// The allocator failed for a reason other than memory.
    #[error("{input}: line {line}: {source}")]
    Allocator {
        /// Name of the input.
        input: String,
        /// The line of the event, from 1.
        line: u64,
        /// What the allocator said.
        source: AllocError,
    },
    /// The allocator could not be built.
    #[error("the allocator cannot be built: {source}")]
    Build {
        /// What is missing.
        #[from]
        source: BuildError,
    },
    /// A text cannot stand on one line of a trace and be read back.
    #[error("{text:?} cannot be written as {what} of a trace")]
    Unwritable {
        /// What it was to be.
        what: &'static str,
        /// The text.
        text: String,
    },
    /// The trace could not be written.
    #[error("the trace cannot be written: {source}")]
    Write {
        /// What the system said.
        #[from]
        source: io::Error,
    },
}

/// The snapshot crate keeps what the system said apart from what was being done.
fn with_reason(error: &SnapshotError) -> String {
    match error {
        SnapshotError::Io { source, .. } => format!("{error}: {source}"),
        _ => error.to_string(),
    }
}

impl ReplayError {
    /// A failure to read on after a line. The decompressors mark theirs by the error's kind.
    pub(crate) fn unreadable(input: &str, line: u64, source: io::Error) -> Self {
        let input = input.to_owned();
        match source.kind() {
            io::ErrorKind::UnexpectedEof => Self::Truncated { input, line },
            io::ErrorKind::InvalidData => Self::Corrupt { input, line, reason: source.to_string() },
            _ => Self::Read { input, line, source },
        }
    }

    pub(crate) fn rejected(input: &str, line: u64, fault: Fault) -> Self {
        Self::Rejected { input: input.to_owned(), line, fault }
    }

    /// The rule that a line broke, when that is the error.
    #[must_use]
    pub const fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Rejected { fault, .. } => Some(fault),
            _ => None,
        }
    }
}
