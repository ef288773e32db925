//! The locks and threads of the worker, and the only place that names them: real ones, or those
//! of a model checker that runs every interleaving (`--cfg loom`, unit tests only).
//!
//! Refuses anything else: an atomic or a channel used beside these would hide from the checker.

#[cfg(not(all(test, loom)))]
mod real;
#[cfg(not(all(test, loom)))]
pub(super) use real::{Condvar, JoinHandle, Mutex, MutexGuard, ThreadId, current_thread_id, spawn};

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, loom))]
pub(super) use model::{Condvar, JoinHandle, Mutex, MutexGuard, ThreadId, current_thread_id, spawn};
