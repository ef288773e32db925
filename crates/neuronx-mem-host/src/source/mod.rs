//! Where contiguous memory comes from: the trait, and two sources that need no kernel.
//!
//! A run is given back by dropping it. Nothing here says who uses a run, or for what.

mod counting;
mod numbered;

use std::fmt;
use std::sync::Arc;

pub use counting::{CountedRun, CountingSource, SourceCounts};
pub use numbered::{NumberedPages, NumberedRun};

use crate::HostError;

/// A source of contiguous, page-aligned runs of memory.
///
/// Pools call it without holding a lock, possibly from several threads at once.
pub trait PageSource: Send + Sync {
    /// A run; dropping it gives the memory back.
    type Run: PageRun;

    /// Takes a contiguous run of at least `bytes`, which is a multiple of [`crate::PAGE_BYTES`].
    ///
    /// # Errors
    ///
    /// [`HostError::NoPages`] when no such run is free, [`HostError::System`] when the system refuses.
    fn allocate(&self, bytes: u64) -> Result<Self::Run, HostError>;
}

/// A contiguous run of memory, which goes back to its source when it is dropped.
pub trait PageRun: Send + fmt::Debug {
    /// Returns the address of the first byte, a multiple of [`crate::PAGE_BYTES`]. O(1).
    fn address(&self) -> u64;

    /// Returns how many bytes may be used, a multiple of [`crate::PAGE_BYTES`]. O(1).
    fn bytes(&self) -> u64;
}

/// A run behind which there is memory of this process.
///
/// # Safety
///
/// From `address()` on, `bytes()` bytes are initialised, readable and writable, and belong to this run
/// alone until it is dropped; both values stay the same for its whole life.
#[expect(unsafe_code, reason = "what safe code may do with such a run rests on this promise")]
pub unsafe trait BackedRun: PageRun {}

impl<S: PageSource> PageSource for Arc<S> {
    type Run = S::Run;

    fn allocate(&self, bytes: u64) -> Result<Self::Run, HostError> {
        S::allocate(self, bytes)
    }
}
