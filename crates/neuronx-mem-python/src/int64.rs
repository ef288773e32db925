//! Where an operator on int64 runs, one at a time; the audit of a whole program is the command's.

use neuronx_mem_int64::{Int64Mode, Int64Policy, route};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Path, reason and risks of an operator in a mode (`None`: that of `TORCH_NEURONX_INT64_MODE`).
#[pyfunction]
#[pyo3(signature = (operator, mode=None))]
pub(crate) fn int64_route(operator: &str, mode: Option<&str>) -> PyResult<(String, String, Vec<String>)> {
    let mode = match mode {
        Some(mode) => mode.parse::<Int64Mode>().map_err(|error| PyValueError::new_err(error.to_string()))?,
        None => {
            let text = std::env::var("TORCH_NEURONX_INT64_MODE").ok();
            let (policy, error) = Int64Policy::from_values(text.as_deref(), false);
            match error {
                Some(error) => return Err(PyValueError::new_err(error.to_string())),
                None => policy.mode,
            }
        }
    };
    let route = route(operator, mode);
    // As the audit's JSON spells them.
    let risks = route.risks().iter().map(|risk| risk.name().replace(' ', "_")).collect();
    Ok((route.path.to_string(), route.reason.to_string(), risks))
}
