//! What the simulated world is made of: chip, cores, devices, memory, allocator keys.
//!
//! Knows the arguments of `configure` and the variables `NEURONX_MEM_*` that stand in for missing
//! ones. Builds nothing.

use bytesize::ByteSize;
use neuronx_mem::AllocatorConfig;
use neuronx_mem::config::Severity;
use neuronx_mem::sim::{Lnc, Preset};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Settings of the world, complete.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) preset: Preset,
    /// `None`: the chip's default.
    pub(crate) lnc: Option<Lnc>,
    pub(crate) n_devices: u32,
    /// Memory of each device; `None`: the chip's.
    pub(crate) memory_bytes: Option<u64>,
    /// Allocator keys; `None`: the environment's.
    pub(crate) config: Option<AllocatorConfig>,
}

/// The arguments of `configure`, before the environment fills the gaps.
#[derive(Debug, Default)]
pub(crate) struct Arguments<'py> {
    pub(crate) device: Option<String>,
    pub(crate) lnc: Option<u32>,
    pub(crate) devices: Option<u32>,
    pub(crate) memory: Option<Bound<'py, PyAny>>,
    pub(crate) config: Option<String>,
}

impl Arguments<'_> {
    /// Takes what is missing from `NEURONX_MEM_DEVICE`, `_LNC`, `_DEVICES` and `_MEMORY`, then from the
    /// defaults: one trn2 core.
    ///
    /// # Errors
    ///
    /// `ValueError` for what no device is like.
    pub(crate) fn complete(self) -> PyResult<Settings> {
        let device = self.device.or_else(|| variable("NEURONX_MEM_DEVICE"));
        let lnc = self.lnc.map_or_else(|| number("NEURONX_MEM_LNC"), |lnc| Ok(Some(lnc)))?;
        let devices = self.devices.map_or_else(|| number("NEURONX_MEM_DEVICES"), |n| Ok(Some(n)))?;
        let memory_bytes = match self.memory {
            Some(memory) => Some(size_of_object(&memory)?),
            None => variable("NEURONX_MEM_MEMORY").map(|text| size_of_text(&text)).transpose()?,
        };
        let preset = match device {
            Some(name) => {
                name.parse().map_err(|error| PyValueError::new_err(format!("device {name:?}: {error}")))?
            }
            None => Preset::default(),
        };
        let lnc = match lnc {
            None => None,
            Some(1) => Some(Lnc::One),
            Some(2) => Some(Lnc::Two),
            Some(other) => return Err(PyValueError::new_err(format!("lnc is {other}, not 1 or 2"))),
        };
        let n_devices = devices.unwrap_or(1);
        if !(1..=128).contains(&n_devices) {
            return Err(PyValueError::new_err(format!("devices is {n_devices}, not 1 to 128")));
        }
        if memory_bytes == Some(0) {
            return Err(PyValueError::new_err("memory is 0 bytes"));
        }
        let config = self.config.map(|keys| config(&keys)).transpose()?;
        Ok(Settings { preset, lnc, n_devices, memory_bytes, config })
    }
}

/// Reads allocator keys, in the form of `TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG`.
///
/// # Errors
///
/// `ValueError` with the first thing that is wrong: unlike a variable, an argument is not half taken.
pub(crate) fn config(keys: &str) -> PyResult<AllocatorConfig> {
    let parsed = AllocatorConfig::parse(keys);
    match parsed.findings.iter().find(|finding| finding.severity() >= Severity::Warning) {
        Some(finding) => Err(PyValueError::new_err(format!("config: {finding}"))),
        None => Ok(parsed.config),
    }
}

/// Bytes from `25769803776` or `"24GiB"`.
pub(crate) fn size_of_object(object: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(text) = object.extract::<String>() {
        return size_of_text(&text);
    }
    object.extract::<u64>().map_err(|_| {
        PyTypeError::new_err(format!("a size is a number of bytes or a text like \"24GiB\", not {object}"))
    })
}

fn size_of_text(text: &str) -> PyResult<u64> {
    let size: ByteSize =
        text.parse().map_err(|error| PyValueError::new_err(format!("size {text:?}: {error}")))?;
    Ok(size.as_u64())
}

/// A variable that is set to something.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn number(name: &str) -> PyResult<Option<u32>> {
    let parse = |text: String| {
        text.parse().map_err(|_| PyValueError::new_err(format!("{name} is {text:?}, not a number")))
    };
    variable(name).map(parse).transpose()
}
