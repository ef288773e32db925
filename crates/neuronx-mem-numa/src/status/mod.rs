//! Whether a process is where it belongs, and if not, why.
//!
//! Knows the keys of `get_numa_status`. Refuses to change anything and to read the environment.

mod pages;
mod reason;

pub use pages::{PageReport, Pages};
pub use reason::NotPinned;

use std::fs;

use crate::topology::list_of;
use crate::{AffinityMode, plan::cpus_of};
use crate::{Binding, CpuSet, Host, LocalRank, NumaError, Planner, ProcessRef, SystemRoot, Topology};

/// What `torch_neuronx.numa.get_numa_status()` returns: these keys and no others, in this order
/// (guidelines for memory management, "Pin host memory to the local NUMA node").
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NumaStatus {
    /// Whether pinning is on: `NEURON_NUMA_PIN`.
    pub numa_pin_enabled: bool,
    /// Whether the process runs on the node of its device only.
    pub numa_pinned: bool,
    /// The CPUs that the main thread may run on.
    pub current_affinity: CpuSet,
    /// Whether `neuron-ls` says which devices there are.
    pub topology_available: bool,
    /// How many devices there are; devices, not cores.
    pub num_devices: usize,
}

/// The status, with what stands behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatusReport {
    /// What the guidelines promise.
    pub status: NumaStatus,
    /// Why it is not pinned; none when it is.
    pub reason: Option<NotPinned>,
    /// Where the rank belongs, when that is known.
    pub binding: Option<Binding>,
    /// Threads that may run outside the node of the binding; 0 without one.
    pub n_threads_outside: usize,
    /// All threads.
    pub n_threads: usize,
    /// Where the memory is; none when the kernel does not say.
    pub pages: Option<PageReport>,
}

/// What a status is made of.
#[derive(Debug)]
pub struct StatusInputs<'a> {
    /// Where `/proc` is.
    pub root: &'a SystemRoot,
    /// Whose status it is.
    pub process: ProcessRef,
    /// Whether pinning is on, see [`read_switch`](crate::read_switch).
    pub is_enabled: bool,
    /// The local rank, when the process has one.
    pub rank: Option<LocalRank>,
    /// The devices, or why they are not known.
    pub topology: Result<&'a Topology, &'a NumaError>,
}

impl StatusReport {
    /// Looks at the process. Cost: a file a thread, and one pass over the memory map.
    ///
    /// A process counts as pinned when its main thread may run on CPUs of the node of its device only,
    /// whoever saw to that: threads with another affinity have it on purpose, and are counted. On a
    /// machine with one node every process that has a rank is pinned.
    pub fn read(inputs: &StatusInputs<'_>) -> Self {
        let StatusInputs { root, process, .. } = inputs;
        let mut affinities = thread_affinities(root, *process);
        let host = Host::read(root, *process);
        let main = affinity_of(root, *process).unwrap_or_else(|| host.allowed.clone());
        if affinities.is_empty() {
            affinities.push(main.clone());
        }
        let place = place(inputs, host);
        let (binding, node_cpus) = place.clone().ok().unzip();
        let outside = |cpus: &&CpuSet| node_cpus.as_ref().is_some_and(|own| !cpus.is_subset(own));
        let n_threads_outside = affinities.iter().filter(outside).count();
        let reason = match (place, inputs.is_enabled) {
            (Err(reason), _) => Some(reason),
            (Ok((_, cpus)), _) if !main.is_empty() && main.is_subset(&cpus) => None,
            (Ok(_), false) => Some(NotPinned::Disabled),
            (Ok((binding, cpus)), true) => {
                Some(NotPinned::Outside { node: binding.node, elsewhere: main.difference(&cpus) })
            }
        };
        let status = NumaStatus {
            numa_pin_enabled: inputs.is_enabled,
            numa_pinned: reason.is_none(),
            current_affinity: main,
            topology_available: inputs.topology.is_ok(),
            num_devices: inputs.topology.map_or(0, |topology| topology.devices().len()),
        };
        let pages = PageReport::read(root, *process, binding.as_ref().map(|binding| binding.node));
        Self { status, reason, binding, n_threads_outside, n_threads: affinities.len(), pages }
    }
}

/// The binding of the rank, with all CPUs of its node.
fn place(inputs: &StatusInputs<'_>, mut host: Host) -> Result<(Binding, CpuSet), NotPinned> {
    let topology = inputs.topology.map_err(|error| NotPinned::NoTopology { message: error.to_string() })?;
    let rank = inputs.rank.ok_or(NotPinned::NoRank)?;
    // A process on the wrong node still has a right one: which CPUs it may use now must not matter.
    let may_use = std::mem::take(&mut host.allowed);
    if let Some((_, device)) = topology.core_of(rank)
        && let Some(node) = device.node
    {
        let own = cpus_of(topology, &host, node);
        host.allowed = if own.intersects(&may_use) { may_use } else { own };
    }
    let binding = Planner::new(topology, &host, AffinityMode::Node).binding(rank)?;
    let cpus = cpus_of(topology, &host, binding.node);
    Ok((binding, cpus))
}

/// Returns the CPUs that the main thread of a process may run on; none when there is no such process.
pub fn affinity_of(root: &SystemRoot, process: ProcessRef) -> Option<CpuSet> {
    status_affinity(&root.text(process.folder().join("status"))?)
}

fn status_affinity(status: &str) -> Option<CpuSet> {
    list_of(status, "Cpus_allowed_list:")
}

/// The affinity of every thread; threads that end meanwhile are passed over.
fn thread_affinities(root: &SystemRoot, process: ProcessRef) -> Vec<CpuSet> {
    let tasks = process.folder().join("task");
    let Ok(entries) = fs::read_dir(root.path(&tasks)) else { return Vec::new() };
    let status = |name: std::ffi::OsString| root.text(tasks.join(name).join("status"));
    entries.flatten().filter_map(|entry| status_affinity(&status(entry.file_name())?)).collect()
}
