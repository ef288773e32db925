//! `Block`: device memory that frees itself when nobody holds it any more, or at the end of `with`.
//!
//! A free takes the device's lock for some tens of nanoseconds and never waits for other Python threads.
//! It is safe at any time, after the interpreter's end too: a device lives as long as its blocks.

use neuronx_mem::{AllocError, Block, Stream};
use parking_lot::Mutex;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyAny;

use crate::errors::raised;
use crate::stream::PyStream;

/// Device memory that frees itself in stream order: when nobody holds it, or at the end of `with`.
#[pyclass(name = "Block", module = "neuronx_mem", frozen)]
#[derive(Debug)]
pub(crate) struct PyBlock {
    address: u64,
    requested_bytes: u64,
    block_bytes: u64,
    device: u32,
    /// `None` once it is freed.
    block: Mutex<Option<Block>>,
}

impl PyBlock {
    pub(crate) fn new(block: Block) -> Self {
        Self {
            address: block.address(),
            requested_bytes: block.requested_bytes(),
            block_bytes: block.block_bytes(),
            device: block.device_id().0,
            block: Mutex::new(Some(block)),
        }
    }

    fn release(&self) {
        // Not under our own lock: a free may capture a stack, which waits for the interpreter.
        let block = self.block.lock().take();
        drop(block);
    }

    fn record(&self, stream: &Stream) -> Option<Result<(), AllocError>> {
        self.block.lock().as_ref().map(|block| block.record_stream(stream))
    }
}

#[pymethods]
impl PyBlock {
    /// First device address; 0 for a block of no bytes.
    #[getter]
    fn address(&self) -> u64 {
        self.address
    }

    /// Bytes asked for.
    #[getter]
    fn requested_bytes(&self) -> u64 {
        self.requested_bytes
    }

    /// Bytes that count as allocated.
    #[getter]
    fn block_bytes(&self) -> u64 {
        self.block_bytes
    }

    /// Ordinal of its device.
    #[getter]
    fn device(&self) -> u32 {
        self.device
    }

    /// Whether it was freed.
    #[getter]
    fn is_freed(&self) -> bool {
        self.block.lock().is_none()
    }

    /// Frees it in stream order; nothing when it is freed.
    fn free(&self) {
        self.release();
    }

    /// Says that a stream uses it too.
    fn record_stream(&self, py: Python<'_>, stream: &PyStream) -> PyResult<()> {
        let recorded = py.detach(|| self.record(&stream.stream));
        let freed = || PyRuntimeError::new_err("the block was freed");
        recorded.ok_or_else(freed)?.map_err(|error| raised(py, &error))
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __exit__(&self, _kind: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>, _trace: &Bound<'_, PyAny>) {
        self.release();
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(usize::try_from(self.requested_bytes)?)
    }

    fn __repr__(&self) -> String {
        let state = if self.is_freed() { ", freed" } else { "" };
        format!("<neuronx_mem Block {:#x}: {} bytes{state}>", self.address, self.requested_bytes)
    }
}
