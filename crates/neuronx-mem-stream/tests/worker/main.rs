//! The worker through its public interface, one file per test file of the reference that it
//! follows (`test_stream_*`, `test_event_*`) and one for each of its own promises.
//!
//! No test waits for time: a closed [`support::Gate`] holds the worker's thread, a signal stalls a
//! stream, and everything else follows from order.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod support;

mod fork;
mod launch_blocking;
mod panics;
mod pending_results;
mod programs;
mod reentrancy;
mod shutdown;
mod test_event_management;
mod test_event_synchronization;
mod test_record_stream;
mod test_stream_creation;
mod test_stream_synchronization;
