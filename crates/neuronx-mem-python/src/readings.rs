//! Numbers and texts about a device, as they are.

use pyo3::prelude::*;

use crate::world::World;

/// Block bytes that live tensors of a device hold.
#[pyfunction]
pub(crate) fn memory_allocated(device: u32) -> PyResult<u64> {
    Ok(World::device(device)?.memory_allocated())
}
