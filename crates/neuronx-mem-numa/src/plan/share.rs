//! The CPUs of one node, cut into shares for the logical cores on it.
//!
//! Knows the rules of each mode. Refuses a share without a CPU.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{AffinityMode, PlanError};
use crate::{CpuId, CpuLayout, CpuSet, Host, NodeId, Topology};

/// At least one share, none empty; the core in place n gets share n, modulo their number.
pub(super) fn shares(
    topology: &Topology,
    host: &Host,
    mode: AffinityMode,
    node: NodeId,
    n_cores: usize,
) -> Result<Vec<CpuSet>, PlanError> {
    let own = cpus_of(topology, host, node);
    let own = own.intersection(&host.allowed);
    let layout = host.layout.as_ref().ok_or(PlanError::LayoutUnknown { mode });
    if mode == AffinityMode::Socket {
        let all = package_of(host, layout?, node).ok_or(PlanError::LayoutUnknown { mode })?;
        return filled(all.intersection(&host.allowed), host, node).map(|cpus| vec![cpus]);
    }
    let own = filled(own, host, node)?;
    match mode {
        AffinityMode::Exclusive => {
            let cores = groups(&own, mode, |cpu| layout.as_ref().ok()?.place(cpu).core)?;
            exclusive(cores.into_values().collect(), node, n_cores)
        }
        AffinityMode::CoreComplex => {
            let caches = groups(&own, mode, |cpu| layout.as_ref().ok()?.place(cpu).cache)?;
            let mut caches: Vec<(CpuId, CpuSet)> = caches.into_iter().collect();
            // Larger ones first, then by the smallest CPU that has the cache, allowed or not.
            caches.sort_by_key(|(first, cpus)| (Reverse(cpus.len()), *first));
            Ok(caches.into_iter().map(|(_, cpus)| cpus).collect())
        }
        _ => Ok(vec![own]),
    }
}

fn filled(cpus: CpuSet, host: &Host, node: NodeId) -> Result<CpuSet, PlanError> {
    if cpus.is_empty() {
        return Err(PlanError::NoAllowedCpus { node, allowed: host.allowed.clone() });
    }
    Ok(cpus)
}

/// What the kernel says of a node; where it shows none, what the tool says of the devices on it.
pub(crate) fn cpus_of(topology: &Topology, host: &Host, node: NodeId) -> CpuSet {
    if let Some(cpus) = host.nodes.get(&node) {
        return cpus.clone();
    }
    let mut cpus = CpuSet::new();
    for device in topology.devices().iter().filter(|device| device.node == Some(node)) {
        cpus.extend_from(&device.cpus);
    }
    cpus
}

/// The CPUs of all nodes in the package that has the node. A CPU that may be used speaks for a node
/// before one that may not.
fn package_of(host: &Host, layout: &CpuLayout, node: NodeId) -> Option<CpuSet> {
    let package = |cpus: &CpuSet| {
        let speaker = cpus.intersection(&host.allowed).first().or_else(|| cpus.first())?;
        layout.place(speaker).package
    };
    let own = package(host.nodes.get(&node)?)?;
    let mut all = CpuSet::new();
    for cpus in host.nodes.values().filter(|cpus| package(cpus) == Some(own)) {
        all.extend_from(cpus);
    }
    Some(all)
}

/// CPUs by the first of their group.
fn groups(
    cpus: &CpuSet,
    mode: AffinityMode,
    first_of: impl Fn(CpuId) -> Option<CpuId>,
) -> Result<BTreeMap<CpuId, CpuSet>, PlanError> {
    let mut groups: BTreeMap<CpuId, CpuSet> = BTreeMap::new();
    for cpu in cpus.iter() {
        let first = first_of(cpu).ok_or(PlanError::LayoutUnknown { mode })?;
        groups.entry(first).or_default().insert(cpu);
    }
    Ok(groups)
}

/// Physical cores in equal parts; the first ones get one more when they do not come out even.
fn exclusive(physical: Vec<CpuSet>, node: NodeId, n_logical: usize) -> Result<Vec<CpuSet>, PlanError> {
    let n_physical = physical.len();
    if n_logical == 0 || n_physical < n_logical {
        return Err(PlanError::TooFewCores { node, n_physical, n_logical });
    }
    let (each, rest) = (n_physical / n_logical, n_physical % n_logical);
    let mut physical = physical.into_iter();
    let share = |position| {
        let mut cpus = CpuSet::new();
        physical.by_ref().take(each + usize::from(position < rest)).for_each(|core| cpus.extend_from(&core));
        cpus
    };
    Ok((0..n_logical).map(share).collect())
}
