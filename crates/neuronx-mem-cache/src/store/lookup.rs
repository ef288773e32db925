//! What a look into the store gives: an entry, or why there is none.

use std::fmt;

/// Which directory of a store something is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layer {
    /// The directory that is written.
    Local,
    /// A directory that is only read, by its place in the order of search.
    Shared(usize),
}

/// An entry's bytes, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The file's content.
    pub bytes: Vec<u8>,
    /// Whether a seal confirmed length and hash. Files that another program put there have none;
    /// they are taken as they are.
    pub is_sealed: bool,
    /// Where it was found.
    pub layer: Layer,
}

/// Why a file is no entry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissReason {
    /// There is no file.
    Absent,
    /// The file has no bytes.
    Empty,
    /// The file differs from everything that was stored under its key.
    Corrupt {
        /// Length of the file.
        length_bytes: u64,
        /// Length that a seal of the key gives.
        sealed_length_bytes: u64,
    },
    /// The file cannot be read.
    Unreadable {
        /// What the system said, in words.
        reason: String,
    },
}

impl fmt::Display for MissReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("no such entry"),
            Self::Empty => f.write_str("the entry has no bytes"),
            Self::Corrupt { length_bytes, sealed_length_bytes } if length_bytes == sealed_length_bytes => {
                write!(f, "the entry's {length_bytes} bytes are not those that were stored")
            }
            Self::Corrupt { length_bytes, sealed_length_bytes } => {
                write!(f, "the entry has {length_bytes} bytes and {sealed_length_bytes} were stored")
            }
            Self::Unreadable { reason } => write!(f, "the entry cannot be read: {reason}"),
        }
    }
}

/// The answer of [`Store::lookup`](crate::Store::lookup).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lookup {
    /// The entry, from the first directory that has a good one.
    pub entry: Option<Entry>,
    /// The worst that was met on the way: damage rather than absence. `None` when the first
    /// directory had the entry.
    pub miss: Option<MissReason>,
}

impl Lookup {
    /// Whether a damaged file was met, even when another directory had a good one.
    #[must_use]
    pub const fn met_corruption(&self) -> bool {
        matches!(self.miss, Some(MissReason::Corrupt { .. }))
    }
}
