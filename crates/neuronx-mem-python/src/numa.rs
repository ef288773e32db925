//! NUMA placement of this process: status, topology, and the pin.
//!
//! Knows where the answers come from: `neuron-ls` on the path, `/sys`, `/proc`, and the variables of the
//! process now. Decides nothing; the numa crate does.

use std::env;

use neuronx_mem::config::{Environment, variables};
use neuronx_mem_numa::launch::MARKER;
use neuronx_mem_numa::{
    AffinityMode, Host, Lnc, LocalRank, NeuronLs, NumaError, Pin, Planner, ProcessRef, StatusInputs,
    StatusReport, SystemRoot, Topology,
};
use parking_lot::Mutex;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The root of the file system, and the devices or why they are not known.
struct Machine {
    root: SystemRoot,
    topology: Result<Topology, NumaError>,
}

impl Machine {
    fn look(environment: &Environment) -> Self {
        let root = SystemRoot::new("/");
        let found = NeuronLs::find(env::var_os("PATH").as_deref(), &root);
        let topology = found.and_then(|tool| Topology::discover(&tool, &root));
        let topology = topology.map(|topology| match lnc(environment) {
            Some(lnc) => topology.with_lnc(lnc),
            None => topology,
        });
        Self { root, topology }
    }
}

/// What the process sets itself.
fn lnc(environment: &Environment) -> Option<Lnc> {
    let names = [variables::NEURON_LOGICAL_NC_CONFIG, variables::NEURON_RT_VIRTUAL_CORE_SIZE];
    let is_set = |name: &_| environment.raw(*name).is_some_and(|text| !text.is_empty());
    let reading = environment.int(names.into_iter().find(is_set)?);
    if reading.findings.is_empty() { Lnc::of_number(reading.value) } else { None }
}

fn local_rank() -> Option<u32> {
    env::var("LOCAL_RANK").ok()?.trim().parse().ok()
}

/// The status of this process, with the reason and the counts behind it.
///
/// `rank` is the local rank, `LOCAL_RANK` when missing.
#[pyfunction]
#[pyo3(signature = (rank=None))]
pub(crate) fn numa_status(py: Python<'_>, rank: Option<u32>) -> PyResult<Bound<'_, PyDict>> {
    let report = py.detach(|| {
        let environment = Environment::capture();
        let machine = Machine::look(&environment);
        StatusReport::read(&StatusInputs {
            root: &machine.root,
            process: ProcessRef::Own,
            is_enabled: environment.bool(variables::NEURON_NUMA_PIN).value,
            rank: rank.or_else(local_rank).map(LocalRank),
            topology: machine.topology.as_ref(),
        })
    });
    let status = PyDict::new(py);
    let cpus: Vec<u32> = report.status.current_affinity.iter().map(|cpu| cpu.get()).collect();
    status.set_item("numa_pin_enabled", report.status.numa_pin_enabled)?;
    status.set_item("numa_pinned", report.status.numa_pinned)?;
    status.set_item("current_affinity", cpus)?;
    status.set_item("topology_available", report.status.topology_available)?;
    status.set_item("num_devices", report.status.num_devices)?;
    let more = PyDict::new(py);
    more.set_item("reason", report.reason.as_ref().map(|reason| reason.name()))?;
    more.set_item("message", report.reason.as_ref().map(ToString::to_string))?;
    more.set_item("device", report.binding.as_ref().map(|binding| binding.device))?;
    more.set_item("core", report.binding.as_ref().map(|binding| binding.core))?;
    more.set_item("node", report.binding.as_ref().map(|binding| binding.node.get()))?;
    more.set_item("threads", report.n_threads)?;
    more.set_item("threads_outside", report.n_threads_outside)?;
    let wrong = report.pages.as_ref().and_then(|pages| pages.on_wrong_node);
    more.set_item("bytes_on_wrong_node", wrong.map(|pages| pages.bytes))?;
    more.set_item("launched_node", env::var(MARKER).ok().and_then(|node| node.parse::<u32>().ok()))?;
    status.set_item("details", more)?;
    Ok(status)
}

/// The devices that `neuron-ls` names, one dict each.
///
/// `RuntimeError` when nothing says which there are.
#[pyfunction]
pub(crate) fn numa_topology(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let machine = py.detach(|| Machine::look(&Environment::capture()));
    let topology = machine.topology.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let devices = PyList::empty(py);
    for device in topology.devices() {
        let entry = PyDict::new(py);
        entry.set_item("device", device.index)?;
        entry.set_item("pci", device.bdf.map(|bdf| bdf.to_string()))?;
        entry.set_item("node", device.node.map(|node| node.get()))?;
        entry.set_item("node_source", device.node_source.name())?;
        entry.set_item("cpus", device.cpus.iter().map(|cpu| cpu.get()).collect::<Vec<u32>>())?;
        entry.set_item("cores", device.n_cores)?;
        entry.set_item("core_ids", &device.core_ids)?;
        entry.set_item("memory_bytes", device.memory_bytes)?;
        devices.append(entry)?;
    }
    Ok(devices)
}

/// Binds all threads of this process beside the device of a rank; the result can undo it.
///
/// `RuntimeError` when there is no place for the rank, or the system refuses.
#[pyfunction]
pub(crate) fn numa_pin(py: Python<'_>, rank: u32, mode: &str) -> PyResult<Pinned> {
    let mode = AffinityMode::by_name(mode)
        .ok_or_else(|| PyValueError::new_err(format!("affinity mode {mode:?} is unknown")))?;
    let pin = py.detach(|| {
        let machine = Machine::look(&Environment::capture());
        let topology = machine.topology.as_ref().map_err(ToString::to_string)?;
        let read = if mode.needs_layout() { Host::read_with_layout } else { Host::read };
        let host = read(&machine.root, ProcessRef::Own);
        let planner = Planner::new(topology, &host, mode);
        let binding = planner.binding(LocalRank(rank)).map_err(|error| error.to_string())?;
        let pin = Pin::apply(&binding.cpus).map_err(|error| error.to_string())?;
        Ok::<_, String>((pin, binding.node.get()))
    });
    let (pin, node) = pin.map_err(PyRuntimeError::new_err)?;
    Ok(Pinned { node, pin: Mutex::new(Some(pin)) })
}

/// What a pin did.
#[pyclass(name = "Pinned", module = "neuronx_mem.numa", frozen)]
#[derive(Debug)]
pub(crate) struct Pinned {
    node: u32,
    /// `None` once it is undone.
    pin: Mutex<Option<Pin>>,
}

#[pymethods]
impl Pinned {
    /// The NUMA node.
    #[getter]
    fn node(&self) -> u32 {
        self.node
    }

    /// The CPUs that the threads are bound to; none once it is undone.
    #[getter]
    fn cpus(&self) -> Vec<u32> {
        let pin = self.pin.lock();
        pin.iter().flat_map(|pin| pin.cpus().iter().map(|cpu| cpu.get())).collect()
    }

    /// How many threads were bound.
    #[getter]
    fn threads(&self) -> usize {
        self.pin.lock().as_ref().map_or(0, Pin::n_bound)
    }

    /// Gives the threads back the affinity of before; returns how many. Nothing the second time.
    fn undo(&self, py: Python<'_>) -> PyResult<usize> {
        let Some(pin) = self.pin.lock().take() else { return Ok(0) };
        let undone = py.detach(|| pin.undo()).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(undone.n_restored)
    }

    fn __repr__(&self) -> String {
        format!("<neuronx_mem Pinned to NUMA node {}>", self.node)
    }
}
