//! The one simulated world of the process: made once, never freed, so that what is still held when the
//! interpreter ends may be freed at any time.
//!
//! Knows how the runtime is made and hands out what the PyTorch backend needs: the table of the C ABI
//! and the devices in it. Does no accounting.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use neuronx_mem::config::Environment;
use neuronx_mem::sim::SimulatedRuntime;
use neuronx_mem::{Allocator, Device, DeviceRuntime};
use neuronx_mem_capi::{nxm_allocator, nxm_vtable};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;

use crate::host_memory::HostMemory;
use crate::settings::{Arguments, Settings};

/// Allocator and devices, as Rust and as C see them.
#[derive(Debug)]
pub(crate) struct World {
    settings: Settings,
    pub(crate) allocator: Allocator,
    /// The same devices for C; never moved.
    table: Box<nxm_allocator>,
}

static WORLD: OnceLock<World> = OnceLock::new();

/// Held while the world is made, so that it is made once.
static MAKING: Mutex<()> = Mutex::new(());

impl World {
    fn make(settings: Settings) -> PyResult<Self> {
        let builder = Allocator::builder().environment(Environment::process());
        let builder = match settings.config {
            Some(config) => builder.config(config),
            None => builder,
        };
        let built = builder.shared_runtime(runtime(&settings)?).build();
        let allocator = built.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let table = nxm_allocator::from_allocator(allocator.clone(), None);
        Ok(Self { settings, allocator, table })
    }

    /// The world, made by the environment if nobody has made it.
    ///
    /// # Errors
    ///
    /// `ValueError` for variables that make no sense.
    pub(crate) fn get() -> PyResult<&'static Self> {
        match WORLD.get() {
            Some(world) => Ok(world),
            None => start(None),
        }
    }

    /// The allocator as C sees it.
    pub(crate) fn table(&self) -> *const nxm_allocator {
        &raw const *self.table
    }

    /// A device by its ordinal.
    ///
    /// # Errors
    ///
    /// `IndexError`.
    pub(crate) fn device(ordinal: u32) -> PyResult<&'static Device> {
        let devices = Self::get()?.allocator.devices();
        devices.get(ordinal as usize).ok_or_else(|| {
            PyIndexError::new_err(format!("device {ordinal} does not exist: there are {}", devices.len()))
        })
    }
}

/// Where the devices' memory comes from.
fn runtime(settings: &Settings) -> PyResult<Arc<dyn DeviceRuntime>> {
    let mut builder = SimulatedRuntime::builder().preset(settings.preset).devices(settings.n_devices);
    if let Some(lnc) = settings.lnc {
        builder = builder.lnc(lnc);
    }
    if let Some(bytes) = settings.memory_bytes {
        builder = builder.memory_bytes(bytes);
    }
    let started = HostMemory::start(builder);
    let memory = started.map_err(|error| {
        PyRuntimeError::new_err(format!("the host has no addresses for the devices' memory: {error}"))
    })?;
    Ok(Arc::new(memory))
}

/// Makes the world by these settings, or by the environment; leaves one that is there as it is.
fn start(settings: Option<Settings>) -> PyResult<&'static World> {
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(world) = WORLD.get() {
        return Ok(world);
    }
    let settings = settings.map_or_else(|| Arguments::default().complete(), Ok)?;
    let world = World::make(settings)?;
    Ok(WORLD.get_or_init(|| world))
}

/// Says what is simulated, before anything is. See `neuronx_mem.configure`.
#[pyfunction]
#[pyo3(signature = (device=None, lnc=None, devices=None, memory=None, config=None))]
pub(crate) fn configure(
    device: Option<String>,
    lnc: Option<u32>,
    devices: Option<u32>,
    memory: Option<Bound<'_, PyAny>>,
    config: Option<String>,
) -> PyResult<()> {
    let settings = Arguments { device, lnc, devices, memory, config }.complete()?;
    let world = start(Some(settings.clone()))?;
    if world.settings == settings {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(
        "the simulated device was started with other settings: call configure() before anything else",
    ))
}

/// How many devices there are.
#[pyfunction]
pub(crate) fn device_count() -> PyResult<usize> {
    Ok(World::get()?.allocator.devices().len())
}

/// The address of the C ABI's table of functions, version 1.
#[pyfunction]
pub(crate) fn shim_table() -> usize {
    nxm_vtable(1) as usize
}

/// The addresses of the devices that the functions of that table take; valid as long as the process.
#[pyfunction]
pub(crate) fn device_handles() -> PyResult<Vec<usize>> {
    Ok(World::get()?.table.devices().iter().map(|device| std::ptr::from_ref(device) as usize).collect())
}
