//! The host: nodes with their CPUs, and which of both a process may use.
//!
//! Knows `/sys/devices/system/node`, `/proc/<pid>/status` and the cpuset of the control group. Refuses
//! to fail: what cannot be read is empty, and the plan says what is missing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::layout::CpuLayout;
use crate::{CpuSet, NodeId, NodeSet, ProcessRef, SystemRoot};

/// NUMA nodes and CPUs, and what one process may use of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// The CPUs of each node; nodes that have memory only are there with no CPU.
    pub nodes: BTreeMap<NodeId, CpuSet>,
    /// The CPUs that the process may use: its affinity, cut down to the cpuset of its control group.
    pub allowed: CpuSet,
    /// The nodes that the process may take memory from; empty when nobody knows.
    pub memory_nodes: NodeSet,
    /// Packages, physical cores and caches; none when it was not read, as `node` needs none of it.
    pub layout: Option<CpuLayout>,
}

impl Host {
    /// Reads the nodes and what the process may use. Cost: a file a node, and three more.
    pub fn read(root: &SystemRoot, process: ProcessRef) -> Self {
        let nodes = nodes(root);
        let cpuset = Cpuset::of(root, process);
        let allowed = status_list(root, process, "Cpus_allowed_list:")
            .or_else(|| root.parsed("sys/devices/system/cpu/online"))
            .unwrap_or_default();
        let allowed = cpuset.cpus.map_or(allowed.clone(), |cpus: CpuSet| allowed.intersection(&cpus));
        let memory: NodeSet = status_list(root, process, "Mems_allowed_list:").unwrap_or_default();
        let memory = cpuset.memory_nodes.map_or(memory.clone(), |nodes: NodeSet| memory.intersection(&nodes));
        Self { nodes, allowed, memory_nodes: memory, layout: None }
    }

    /// Reads the same, and for each allowed CPU its package, physical core and caches. Cost: a dozen
    /// files a CPU.
    pub fn read_with_layout(root: &SystemRoot, process: ProcessRef) -> Self {
        let mut host = Self::read(root, process);
        let mut cpus = host.allowed.clone();
        // A node that has no allowed CPU may still tell of a package.
        host.nodes.values().filter_map(CpuSet::first).for_each(|cpu| cpus.insert(cpu));
        host.layout = Some(CpuLayout::read(root, &cpus));
        host
    }
}

/// Every node that the kernel shows, with its CPUs.
pub(super) fn nodes(root: &SystemRoot) -> BTreeMap<NodeId, CpuSet> {
    let folder = "sys/devices/system/node";
    let listed = root.parsed::<NodeSet>(format!("{folder}/online"));
    let listed = listed.or_else(|| root.parsed(format!("{folder}/possible"))).unwrap_or_default();
    let cpus = |node: NodeId| root.parsed(format!("{folder}/node{node}/cpulist")).map(|cpus| (node, cpus));
    listed.iter().filter_map(cpus).collect()
}

/// The list behind a key of `/proc/<pid>/status`.
fn status_list<T: crate::SetIndex>(
    root: &SystemRoot,
    process: ProcessRef,
    key: &str,
) -> Option<crate::IndexSet<T>> {
    let text = root.text(process.folder().join("status"))?;
    list_of(&text, key)
}

/// The list behind a key of a text like `/proc/<pid>/status`.
pub(crate) fn list_of<T: crate::SetIndex>(status: &str, key: &str) -> Option<crate::IndexSet<T>> {
    status.lines().find_map(|line| line.strip_prefix(key))?.parse().ok()
}

/// What the control group allows; none where it does not say.
#[derive(Default)]
struct Cpuset {
    cpus: Option<CpuSet>,
    memory_nodes: Option<NodeSet>,
}

impl Cpuset {
    fn of(root: &SystemRoot, process: ProcessRef) -> Self {
        let Some(text) = root.text(process.folder().join("cgroup")) else { return Self::default() };
        let hierarchies = text.lines().filter_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            Some((parts.next()?, parts.next()?))
        });
        let mut found = Self::default();
        for (controllers, path) in hierarchies {
            let (mount, names) = match controllers {
                "" => ("sys/fs/cgroup", ["cpuset.cpus.effective", "cpuset.mems.effective"]),
                some if some.split(',').any(|one| one == "cpuset") => {
                    ("sys/fs/cgroup/cpuset", ["cpuset.effective_cpus", "cpuset.effective_mems"])
                }
                _ => continue,
            };
            let [cpus, memory_nodes] = names.map(|name| places(mount, path, name));
            // An empty file is a group that has never been set up, not one without CPUs.
            let filled = |path: &PathBuf| root.text(path).is_some_and(|text| !text.is_empty());
            found.cpus = found.cpus.or_else(|| root.parsed(cpus.into_iter().find(filled)?));
            found.memory_nodes =
                found.memory_nodes.or_else(|| root.parsed(memory_nodes.into_iter().find(filled)?));
        }
        found
    }
}

/// A file of the group, and of the mount itself: in a container the group's own path may not be shown.
fn places(mount: &str, group: &str, name: &str) -> [PathBuf; 2] {
    let group = Path::new(mount).join(group.trim_start_matches('/')).join(name);
    [group, Path::new(mount).join(name)]
}
