//! Switches the memory history of a device, with the values of PyTorch's function.
//!
//! Knows that stacks come from the interpreter. `neuronx_mem.memory` has what people call.

use neuronx_mem::Device;
use neuronx_mem::snapshot::history::{EnabledArg, RecordOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::device::PyDevice;
use crate::stacks;

/// Options from the arguments: `enabled` is `None`, `"state"` or `"all"`.
///
/// # Errors
///
/// `ValueError` for any other value of an option.
#[expect(clippy::needless_pass_by_value, reason = "as Python hands them over")]
pub(crate) fn options(
    enabled: Option<String>,
    context: Option<String>,
    stacks: &str,
    max_entries: usize,
    clear_history: bool,
    skip_actions: &[String],
) -> PyResult<RecordOptions> {
    let enabled = enabled.as_deref().map_or(EnabledArg::None, EnabledArg::Name);
    let skipped: Vec<&str> = skip_actions.iter().map(String::as_str).collect();
    let context = context.as_deref();
    RecordOptions::from_python_like(enabled, context, stacks, max_entries, clear_history, &skipped)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Records by these options, with stacks of the interpreter.
pub(crate) fn record(py: Python<'_>, device: &Device, options: &RecordOptions) {
    let source = stacks::source(py, options.stacks);
    py.detach(|| {
        device.set_shared_stacks(source);
        device.record_memory_history(options);
    });
}

/// Records a device's history, or stops.
#[pyfunction]
#[pyo3(signature = (device, enabled, context, stacks, max_entries, clear_history, skip_actions))]
#[expect(clippy::too_many_arguments, reason = "those of PyTorch's function")]
#[expect(clippy::needless_pass_by_value, reason = "as Python hands them over")]
pub(crate) fn record_memory_history(
    py: Python<'_>,
    device: &PyDevice,
    enabled: Option<String>,
    context: Option<String>,
    stacks: &str,
    max_entries: usize,
    clear_history: bool,
    skip_actions: Vec<String>,
) -> PyResult<()> {
    let options = options(enabled, context, stacks, max_entries, clear_history, &skip_actions)?;
    record(py, &device.device, &options);
    Ok(())
}

/// Attaches a text to all events of a device from now on.
#[pyfunction]
pub(crate) fn set_memory_metadata(py: Python<'_>, device: &PyDevice, text: &str) {
    py.detach(|| device.device.set_memory_metadata(text));
}
