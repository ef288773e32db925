//! The atomics of this crate, and the only place that names them: real ones, or those of a model
//! checker that runs every interleaving (`--cfg loom`, unit tests only).
//!
//! Refuses anything else: an atomic used beside these would hide from the checker.

#[cfg(not(all(test, loom)))]
mod real;
#[cfg(not(all(test, loom)))]
pub(crate) use real::{AtomicU64, Backoff, Ordering, fence};

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, loom))]
pub(crate) use model::{AtomicU64, Backoff, Ordering, fence};
