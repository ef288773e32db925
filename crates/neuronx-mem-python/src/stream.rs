//! `Stream`: where work, allocations and frees have their order.

use neuronx_mem::Stream;
use neuronx_mem::streams::Ticket;
use pyo3::prelude::*;

use crate::errors::raised;

/// Where work, allocations and frees have their order. Runs no work: whoever does says so here.
#[pyclass(name = "Stream", module = "neuronx_mem", frozen)]
#[derive(Debug)]
pub(crate) struct PyStream {
    pub(crate) stream: Stream,
}

#[pymethods]
impl PyStream {
    /// Its number on the device, from 0.
    #[getter]
    fn id(&self) -> u32 {
        self.stream.id().0
    }

    /// Ordinal of the device.
    #[getter]
    fn device(&self) -> u32 {
        self.stream.device().id().0
    }

    /// Notes that a piece of work was queued; the ticket says so later that it is done.
    fn submit(&self, py: Python<'_>) -> PyResult<u64> {
        let ticket = py.detach(|| self.stream.submit()).map_err(|error| raised(py, &error))?;
        Ok(ticket.0)
    }

    /// Notes that work up to a ticket is done: what was freed behind it becomes free.
    fn complete(&self, py: Python<'_>, ticket: u64) -> PyResult<()> {
        py.detach(|| self.stream.complete(Ticket(ticket))).map_err(|error| raised(py, &error))
    }

    /// Says that all its work is done.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.stream.try_synchronize()).map_err(|error| raised(py, &error))
    }

    /// Whether nothing that was submitted is still running.
    fn is_idle(&self) -> bool {
        self.stream.is_idle()
    }

    /// Blocks whose deallocation waits for it, and their bytes.
    fn pending(&self) -> (usize, u64) {
        self.stream.pending()
    }

    fn __repr__(&self) -> String {
        format!("<neuronx_mem Stream {} of device {}>", self.stream.id().0, self.stream.device().id().0)
    }
}
