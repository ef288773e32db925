//! What asking for an entry gives.

use std::time::Duration;

use crate::CacheError;

/// Where the bytes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// The directory that is written.
    Store,
    /// A read-only directory.
    SharedStore,
    /// The compiler, run by this call.
    Compiled,
    /// The compiler, as the cache is off.
    CompiledUncached,
}

/// An entry, and how it was come by.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The entry.
    pub bytes: Vec<u8>,
    /// Where it comes from.
    pub origin: Origin,
    /// How long others were waited for.
    pub waited: Duration,
    /// Why the compiled bytes were not stored, if they were not. They are whole all the same.
    pub store_error: Option<CacheError>,
}

/// Why there is no entry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GetOrCompileError<E> {
    /// What the compiler gave. The lock is free again, and others may try.
    #[error("compiling failed: {0}")]
    Compile(E),
    /// The lock could not be had.
    #[error(transparent)]
    Cache(#[from] CacheError),
}
