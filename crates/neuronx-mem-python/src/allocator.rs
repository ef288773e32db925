//! `Allocator`: a caching allocator of Python's own, without PyTorch: over a simulated device or libnrt.
//!
//! Knows how one is made and what it hands out. The process's world is one too.

use std::path::PathBuf;
use std::sync::Arc;

use neuronx_mem::config::Environment;
use neuronx_mem::{Allocator, DeviceId};
use neuronx_mem_nrt::{NrtRuntime, NrtRuntimeBuilder};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::block::PyBlock;
use crate::device::{Facts, PyDevice};
use crate::errors::{of_snapshot, raised};
use crate::history;
use crate::settings::{self, Arguments, Settings};
use crate::stream::PyStream;
use crate::world;

/// A caching allocator over simulated devices, or over libnrt.
///
/// `device` is `trn1`, `inf2`, `trn2` or `trn3`, `lnc` 1 or 2, `memory` bytes or `"24GiB"`. `libnrt` is
/// `True` or the path of the library: then device, lnc, devices and memory are the machine's. `config`
/// holds allocator keys; what is missing of keys, `oom_recovery` and `streams` comes from the environment.
#[pyclass(name = "Allocator", module = "neuronx_mem", frozen)]
#[derive(Debug)]
pub(crate) struct PyAllocator {
    pub(crate) allocator: Allocator,
    pub(crate) facts: Arc<Facts>,
}

impl PyAllocator {
    pub(crate) fn simulated(allocator: Allocator, settings: &Settings) -> Self {
        let lnc = settings.lnc.unwrap_or(settings.preset.default_lnc());
        let core_bytes = settings.memory_bytes.unwrap_or(settings.preset.core_capacity_bytes(lnc));
        let facts = Facts {
            name: settings.preset.name().to_owned(),
            lnc: Some(lnc.cores()),
            core_bytes: Some(core_bytes),
            is_simulated: true,
        };
        Self { allocator, facts: Arc::new(facts) }
    }
}

/// `True` for libnrt where it usually is, or its path.
#[derive(Debug, FromPyObject)]
enum Libnrt {
    #[pyo3(transparent)]
    Flag(bool),
    #[pyo3(transparent)]
    Path(PathBuf),
}

impl Libnrt {
    fn builder(self) -> Option<NrtRuntimeBuilder> {
        match self {
            Self::Flag(false) => None,
            Self::Flag(true) => Some(NrtRuntime::builder()),
            Self::Path(path) => Some(NrtRuntime::builder().path(path)),
        }
    }
}

fn failed(error: &impl ToString) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl PyAllocator {
    #[new]
    #[pyo3(signature = (device="trn2", *, lnc=None, devices=1, memory=None, config=None, libnrt=None,
        oom_recovery=None, streams=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of one call in Python")]
    fn new(
        py: Python<'_>,
        device: &str,
        lnc: Option<u32>,
        devices: u32,
        memory: Option<Bound<'_, PyAny>>,
        config: Option<&str>,
        libnrt: Option<Libnrt>,
        oom_recovery: Option<bool>,
        streams: Option<bool>,
    ) -> PyResult<Self> {
        let mut builder = Allocator::builder().environment(Environment::process());
        if let Some(keys) = config {
            builder = builder.config(settings::config(keys)?);
        }
        if let Some(is_enabled) = oom_recovery {
            builder = builder.oom_recovery(is_enabled);
        }
        if let Some(are_enabled) = streams {
            builder = builder.streams(are_enabled);
        }
        if let Some(nrt) = libnrt.and_then(Libnrt::builder) {
            let runtime = py.detach(|| nrt.open()).map_err(|error| failed(&error))?;
            let allocator = builder.runtime(runtime).build().map_err(|error| failed(&error))?;
            let facts = Facts { name: "libnrt".to_owned(), ..Facts::default() };
            return Ok(Self { allocator, facts: Arc::new(facts) });
        }
        let (device, devices) = (Some(device.to_owned()), Some(devices));
        let arguments = Arguments { device, lnc, devices, memory, config: None };
        let settings = arguments.complete_without_environment()?;
        let built = builder.runtime(world::simulator(&settings).build()).build();
        Ok(Self::simulated(built.map_err(|error| failed(&error))?, &settings))
    }

    /// How many devices it has.
    #[getter]
    fn n_devices(&self) -> usize {
        self.allocator.devices().len()
    }

    /// The allocator keys in force, as the environment variable would say them; empty for the defaults.
    #[getter]
    fn config(&self) -> String {
        self.allocator.config().to_env_string()
    }

    /// The hash of those keys.
    #[getter]
    fn config_hash(&self) -> String {
        format!("{:016x}", self.allocator.config().hash64())
    }

    /// One of its devices.
    fn device(&self, py: Python<'_>, index: u32) -> PyResult<PyDevice> {
        let device = self.allocator.device(DeviceId(index)).map_err(|error| raised(py, &error))?;
        Ok(PyDevice { device: device.clone(), facts: Arc::clone(&self.facts) })
    }

    /// A block on a stream, or on the default stream of a device.
    #[pyo3(signature = (bytes, stream=None, device=0))]
    fn allocate(
        &self,
        py: Python<'_>,
        bytes: u64,
        stream: Option<&PyStream>,
        device: u32,
    ) -> PyResult<PyBlock> {
        let allocated = py.detach(|| match stream {
            Some(stream) => self.allocator.allocate(bytes, &stream.stream),
            None => {
                let device = self.allocator.device(DeviceId(device))?;
                device.allocate(bytes, &device.default_stream())
            }
        });
        Ok(PyBlock::new(allocated.map_err(|error| raised(py, &error))?))
    }

    /// Says that all work of all devices is done.
    fn synchronize(&self, py: Python<'_>) {
        py.detach(|| self.allocator.synchronize());
    }

    /// Gives fully free segments back to the runtime; segments and bytes.
    fn empty_cache(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let released = py.detach(|| self.allocator.empty_cache()).map_err(|error| raised(py, &error))?;
        Ok((released.segments, released.bytes))
    }

    /// A snapshot of all devices: a pickle, or JSON.
    #[pyo3(signature = (json=false))]
    fn snapshot<'py>(&self, py: Python<'py>, json: bool) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| {
            let snapshot = self.allocator.snapshot();
            if json { snapshot.to_json() } else { snapshot.to_pickle() }
        });
        Ok(PyBytes::new(py, &bytes.map_err(of_snapshot)?))
    }

    /// Records the history of all devices, or stops; see `neuronx_mem.memory._record_memory_history`.
    #[pyo3(signature = (enabled=Some("all".to_owned()), context=Some("all".to_owned()), stacks="python",
        max_entries=usize::MAX, clear_history=false))]
    fn record_memory_history(
        &self,
        py: Python<'_>,
        enabled: Option<String>,
        context: Option<String>,
        stacks: &str,
        max_entries: usize,
        clear_history: bool,
    ) -> PyResult<()> {
        let options = history::options(enabled, context, stacks, max_entries, clear_history, &[])?;
        self.allocator.devices().iter().for_each(|device| history::record(py, device, &options));
        Ok(())
    }

    /// Writes a snapshot of all devices: JSON for a name in `.json`, a pickle otherwise.
    fn dump_snapshot(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.allocator.snapshot().write_file(path)).map_err(of_snapshot)
    }

    fn __repr__(&self) -> String {
        let n_devices = self.n_devices();
        format!("<neuronx_mem Allocator: {n_devices} x {}>", self.facts.name)
    }
}
