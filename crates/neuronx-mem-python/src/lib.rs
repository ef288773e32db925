//! The native half of the Python package `neuronx_mem`: one simulated world a process, and answers
//! about it.
//!
//! Knows Python's objects and errors; decides nothing about memory, which the facade does. The other
//! half, in `python/`, has the names that people call.

#![warn(clippy::undocumented_unsafe_blocks, clippy::multiple_unsafe_ops_per_block)]
#![allow(unreachable_pub, reason = "exported by name, not by path")]

mod allocator;
mod block;
mod device;
mod errors;
mod history;
mod host_memory;
mod int64;
mod int64_hooks;
mod numa;
mod region;
mod settings;
mod shim;
mod stacks;
mod stream;
mod world;

use pyo3::prelude::*;

/// The module `neuronx_mem._native`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::allocator::PyAllocator;
    #[pymodule_export]
    use crate::block::PyBlock;
    #[pymodule_export]
    use crate::device::PyDevice;
    #[pymodule_export]
    use crate::history::{record_memory_history, set_memory_metadata};
    #[pymodule_export]
    use crate::int64::int64_route;
    #[pymodule_export]
    use crate::int64_hooks::{int64_hooks, int64_policy};
    #[pymodule_export]
    use crate::numa::{Pinned, numa_pin, numa_status, numa_topology};
    #[pymodule_export]
    use crate::shim::{allocator_handle, shim_header};
    #[pymodule_export]
    use crate::stacks::{n_captured_stacks, stop_capturing};
    #[pymodule_export]
    use crate::stream::PyStream;
    #[pymodule_export]
    use crate::world::{configure, device_count, device_handles, is_started, shim_table, world};

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
