//! Model checking: the same code over `loom`'s locks and threads, in every order that they allow.
//!
//! Built by `--cfg loom` only, and as unit tests, so that no other build knows `loom`:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test --release -p neuronx-mem-stream --features worker --lib model
//! ```
//!
//! The models are small and the search is not: a minute for each of the free queue's, seconds for
//! the others.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod free_queue;
mod protocol;
