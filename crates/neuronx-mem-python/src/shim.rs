//! What the PyTorch backend is built from and works on: the C header of this very library, and the
//! allocator behind the devices.

use pyo3::prelude::*;

use crate::world::World;

/// The text of `neuronx_mem.h` for the table that `shim_table()` points to.
#[pyfunction]
pub(crate) fn shim_header() -> &'static str {
    neuronx_mem_capi::NXM_HEADER
}

/// The address of the allocator that the functions of the table take; valid as long as the process.
#[pyfunction]
pub(crate) fn allocator_handle() -> PyResult<usize> {
    Ok(World::get()?.table() as usize)
}
