//! The native half of the Python package `neuronx_mem`: one simulated world a process, and answers
//! about it.
//!
//! Knows Python's objects and errors; decides nothing about memory, which the facade does. The other
//! half, in `python/`, has the names that people call.

#![warn(clippy::undocumented_unsafe_blocks, clippy::multiple_unsafe_ops_per_block)]
#![allow(unreachable_pub, reason = "exported by name, not by path")]

mod host_memory;
mod readings;
mod region;
mod settings;
mod shim;
mod world;

use pyo3::prelude::*;

/// The module `neuronx_mem._native`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::readings::memory_allocated;
    #[pymodule_export]
    use crate::shim::{allocator_handle, shim_header};
    #[pymodule_export]
    use crate::world::{configure, device_count, device_handles, shim_table};
}
