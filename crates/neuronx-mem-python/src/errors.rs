//! Failures of the allocator as exceptions of Python.
//!
//! Knows which exception each is; out of memory becomes `neuronx_mem.OutOfMemoryError`, with the numbers
//! as attributes. Catches nothing.

use neuronx_mem::{AllocError, OutOfMemory, StepKind};
use pyo3::exceptions::{PyIndexError, PyOSError, PyOverflowError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// The class, looked up once.
static OUT_OF_MEMORY: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The exception of a failure.
pub(crate) fn raised(py: Python<'_>, error: &AllocError) -> PyErr {
    let text = error.to_string();
    match error {
        AllocError::OutOfMemory(error) => out_of_memory(py, error).unwrap_or_else(|failure| failure),
        AllocError::SizeOverflow { .. } => PyOverflowError::new_err(text),
        AllocError::UnknownDevice { .. } => PyIndexError::new_err(text),
        AllocError::ForeignStream { .. } | AllocError::InvalidFraction { .. } | AllocError::Stream(_) => {
            PyValueError::new_err(text)
        }
        _ => PyRuntimeError::new_err(text),
    }
}

/// The exception of a file that cannot be written, with the text of the snapshot crate.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub(crate) fn of_snapshot(error: neuronx_mem::snapshot::Error) -> PyErr {
    PyOSError::new_err(error.to_string())
}

fn out_of_memory(py: Python<'_>, error: &OutOfMemory) -> PyResult<PyErr> {
    let class = OUT_OF_MEMORY.import(py, "neuronx_mem._errors", "OutOfMemoryError")?;
    let numbers = PyDict::new(py);
    numbers.set_item("device", error.device.0)?;
    numbers.set_item("requested_bytes", error.requested_bytes)?;
    numbers.set_item("rounded_bytes", error.rounded_bytes)?;
    numbers.set_item("segment_bytes", error.segment_bytes)?;
    numbers.set_item("total_bytes", error.effective_total_bytes())?;
    numbers.set_item("reserved_bytes", error.reserved_bytes)?;
    numbers.set_item("allocated_bytes", error.allocated_bytes)?;
    numbers.set_item("active_bytes", error.active_bytes)?;
    numbers.set_item("cached_free_bytes", error.cached_free_bytes)?;
    numbers.set_item("largest_free_bytes", error.largest_free_bytes)?;
    numbers.set_item("used_by_others_bytes", error.used_by_others_bytes)?;
    let pending: Vec<(u32, u64)> = error.pending.iter().map(|(stream, bytes)| (stream.0, *bytes)).collect();
    numbers.set_item("pending", pending)?;
    let steps: Vec<(&str, u64)> =
        error.steps.iter().map(|step| (name_of(step.kind), step.gained_bytes)).collect();
    numbers.set_item("steps", steps)?;
    numbers.set_item("report", error.report())?;
    let raised = class.call((error.to_string(),), Some(&numbers))?;
    Ok(PyErr::from_value(raised))
}

/// The words of `replay --json`.
fn name_of(kind: StepKind) -> &'static str {
    match kind {
        StepKind::WaitForStream => "wait_for_stream",
        StepKind::RunCallbacks => "run_callbacks",
        StepKind::WaitForOtherStreams => "wait_for_other_streams",
        StepKind::ReleaseSegments => "release_segments",
        _ => "other",
    }
}
