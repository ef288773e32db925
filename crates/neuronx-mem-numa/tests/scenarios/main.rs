//! Machines of several kinds, as `neuron-ls` and `/sys` show them: topology, plan, status, launcher.
//!
//! Everything happens in temporary directories; no test depends on the machine's own nodes.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod binary;
mod launch;
mod machine;
mod plan;
mod status;
mod tool;
mod topology;
