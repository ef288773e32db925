//! What can fail in this crate, with the numbers. Judges nothing and repeats nothing.

use std::io;
use std::path::PathBuf;

/// Why host memory could not be had, or what was wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// A request of 0 bytes, or of more than an allocator can count.
    #[error("a request has 1 to {limit_bytes} bytes, not {requested_bytes}")]
    InvalidSize {
        /// Bytes asked for.
        requested_bytes: u64,
        /// The most that one request may have.
        limit_bytes: u64,
    },
    /// The driver knows no alignment for host memory beyond its pages.
    #[error("the driver does not align host memory, not to {align_bytes} bytes either")]
    AlignedRequest {
        /// Alignment asked for.
        align_bytes: u64,
    },
    /// A parameter or a policy that no pool can be built with.
    #[error("{name} = {value}: {reason}")]
    InvalidPolicy {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: u64,
        /// What it must be.
        reason: &'static str,
    },
    /// The page source has no contiguous run of this size.
    #[error("no contiguous run of {requested_bytes} bytes is free")]
    NoPages {
        /// Bytes asked for.
        requested_bytes: u64,
    },
    /// The driver's model has neither a run from the kernel nor place in its reserve.
    #[error(
        "the driver has no host memory for {requested_bytes} bytes: {rounded_bytes} after rounding, \
        largest class {largest_class_bytes}, {occupied_bytes} occupied"
    )]
    DriverOutOfMemory {
        /// Bytes asked for.
        requested_bytes: u64,
        /// The same, rounded up to pages.
        rounded_bytes: u64,
        /// The largest class of the reserve.
        largest_class_bytes: u64,
        /// Host memory that is in use.
        occupied_bytes: u64,
    },
    /// The pool has no free extent of this size, and could not grow.
    #[error(
        "no contiguous host memory for {requested_bytes} bytes: largest free extent \
        {largest_free_bytes}, {free_bytes} free of {reserved_bytes} reserved"
    )]
    NoExtent {
        /// Bytes asked for.
        requested_bytes: u64,
        /// The largest extent that is free.
        largest_free_bytes: u64,
        /// All that is free.
        free_bytes: u64,
        /// All that the pool has.
        reserved_bytes: u64,
    },
    /// The pool cannot cover the request within the bounds of its policy.
    #[error(
        "{requested_bytes} bytes do not fit {max_chunks} chunks of {min_chunk_bytes} bytes or more: \
        largest free extent {largest_free_bytes}, {free_bytes} free of {reserved_bytes} reserved"
    )]
    NotSplittable {
        /// Bytes asked for.
        requested_bytes: u64,
        /// The most chunks that the policy allows.
        max_chunks: usize,
        /// The smallest chunk that the policy allows.
        min_chunk_bytes: u64,
        /// The largest extent that is free.
        largest_free_bytes: u64,
        /// All that is free.
        free_bytes: u64,
        /// All that the pool has.
        reserved_bytes: u64,
    },
    /// An allocation of another pool was given back to this one.
    #[error("the allocation belongs to pool {owner}, not to pool {this}")]
    ForeignAllocation {
        /// The pool that made it.
        owner: u64,
        /// The pool that was asked.
        this: u64,
    },
    /// The system refused a call.
    #[error("{call} of {bytes} bytes: {source}")]
    System {
        /// The call.
        call: &'static str,
        /// Bytes it was for.
        bytes: u64,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not what its name says, or ends too early.
    #[error("{file}, line {line}: {reason}")]
    Format {
        /// The file, as the kernel calls it.
        file: String,
        /// The line, counted from 1; the one after the last when the file ends too early.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A node that the host does not have.
    #[error("the host has no node {node}")]
    NoSuchNode {
        /// The node asked for.
        node: u32,
    },
}

impl HostError {
    /// True when there is no memory of the wanted shape: more, or less fragmented memory would help.
    #[must_use]
    pub const fn is_out_of_memory(&self) -> bool {
        matches!(
            self,
            Self::NoPages { .. }
                | Self::DriverOutOfMemory { .. }
                | Self::NoExtent { .. }
                | Self::NotSplittable { .. }
        )
    }

    pub(crate) fn format(file: &str, line: usize, reason: impl Into<String>) -> Self {
        Self::Format { file: file.to_owned(), line, reason: reason.into() }
    }
}
