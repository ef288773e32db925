//! The cache between processes: races, deaths, full and read-only directories.
//!
//! The children are this same program, started again with a role (`child::role`). They talk over
//! pipes, and nothing waits for a time.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod child;
mod children;
mod faults;
mod races;
