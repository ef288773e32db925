//! Which CPUs each rank gets.
//!
//! Knows the four modes of `torch.numa.binding`, with logical cores as its devices. Pure: refuses to
//! look at the machine or to change it.

mod mode;
mod share;

use std::collections::BTreeMap;

pub use mode::AffinityMode;

pub(crate) use share::cpus_of;

use crate::{CpuSet, Host, LocalRank, NodeId, Topology};

/// Where one rank belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Binding {
    /// The rank.
    pub rank: LocalRank,
    /// The id of its logical core.
    pub core: u32,
    /// The number of the device that the core is in.
    pub device: u32,
    /// The node of the device, where memory belongs.
    pub node: NodeId,
    /// The CPUs for its threads; not empty, and all of them allowed.
    pub cpus: CpuSet,
}

/// Why a rank has no place. The rank can run unpinned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// More ranks than logical cores.
    #[error("local rank {rank} has no logical core: there are {n_cores}")]
    RankOutOfRange {
        /// The rank.
        rank: LocalRank,
        /// How many logical cores there are.
        n_cores: usize,
    },
    /// Nobody knows where the device is attached.
    #[error("device {device}: nothing says which NUMA node it is on")]
    NodeUnknown {
        /// The number of the device.
        device: u32,
    },
    /// The process may use no CPU of the node.
    #[error("no CPU of NUMA node {node} is allowed here; allowed are {}", shown(allowed))]
    NoAllowedCpus {
        /// The node.
        node: NodeId,
        /// What is allowed.
        allowed: CpuSet,
    },
    /// Too few physical cores for `exclusive`.
    #[error(
        "{n_physical} allowed physical cores on NUMA node {node} are too few for {n_logical} logical cores"
    )]
    TooFewCores {
        /// The node.
        node: NodeId,
        /// Allowed physical cores on it.
        n_physical: usize,
        /// Logical cores of the devices on it.
        n_logical: usize,
    },
    /// The mode needs packages, physical cores or caches, and the host does not tell of them.
    #[error("mode {mode} needs to know {} of each CPU, which nothing here says", mode.needs())]
    LayoutUnknown {
        /// The mode.
        mode: AffinityMode,
    },
}

/// The plan for one topology, host and mode; ranks ask it one by one.
///
/// ```
/// # use neuronx_mem_numa::{AffinityMode, CpuSet, Host, LocalRank, NodeId, Planner, SystemRoot, Topology};
/// # let folder = tempfile::tempdir()?;
/// # let json = br#"[{"neuron_device": 0, "numa_node": "0", "nc_count": 4}]"#;
/// # let topology = Topology::from_json(json, &SystemRoot::new(folder.path()))?;
/// let node = NodeId::new(0).unwrap_or_default();
/// let host = Host {
///     nodes: [(node, "0-7".parse::<CpuSet>()?)].into(),
///     allowed: "2-63".parse()?,
///     ..Host::default()
/// };
/// let planner = Planner::new(&topology, &host, AffinityMode::Node);
/// assert_eq!(planner.binding(LocalRank(3))?.cpus.to_string(), "2-7");
/// assert_eq!(
///     planner.binding(LocalRank(4)).unwrap_err().to_string(),
///     "local rank 4 has no logical core: there are 4"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Planner<'a> {
    topology: &'a Topology,
    /// The shares of each node with devices; one share may serve several cores.
    nodes: BTreeMap<NodeId, Result<Vec<CpuSet>, PlanError>>,
    /// The place of each logical core among those on its node, in the order of ranks.
    positions: Vec<usize>,
}

impl<'a> Planner<'a> {
    /// Makes the plan. A node that cannot be planned is an error for its own ranks only.
    ///
    /// Cost: O(cores · log nodes + CPUs), without a system call.
    pub fn new(topology: &'a Topology, host: &Host, mode: AffinityMode) -> Self {
        let mut n_cores: BTreeMap<NodeId, usize> = BTreeMap::new();
        let mut positions = Vec::with_capacity(topology.cores().len());
        for core in topology.cores() {
            let node = topology.devices()[core.device_idx].node;
            let count = node.map(|node| n_cores.entry(node).or_default());
            positions.push(count.map_or(0, |count| {
                *count += 1;
                *count - 1
            }));
        }
        let shares = |(node, n_cores)| (node, share::shares(topology, host, mode, node, n_cores));
        Self { topology, nodes: n_cores.into_iter().map(shares).collect(), positions }
    }

    /// Returns the place of a rank. Cost: O(log nodes) and a copy of the set.
    ///
    /// # Errors
    ///
    /// [`PlanError`] when there is no core for the rank, no known node for its device, or no CPU for it
    /// in this mode.
    pub fn binding(&self, rank: LocalRank) -> Result<Binding, PlanError> {
        let n_cores = self.positions.len();
        let out_of_range = PlanError::RankOutOfRange { rank, n_cores };
        let (core, device) = self.topology.core_of(rank).ok_or(out_of_range)?;
        let unknown = PlanError::NodeUnknown { device: device.index };
        let (node, shares) =
            device.node.and_then(|node| Some((node, self.nodes.get(&node)?))).ok_or(unknown)?;
        let shares = shares.as_ref().map_err(PlanError::clone)?;
        let cpus = shares[self.positions[rank.0 as usize] % shares.len()].clone();
        Ok(Binding { rank, core: core.id, device: device.index, node, cpus })
    }

    /// Returns the places of all ranks that have a core, in their order.
    pub fn bindings(&self) -> impl Iterator<Item = Result<Binding, PlanError>> + '_ {
        (0u32..).take(self.positions.len()).map(|rank| self.binding(LocalRank(rank)))
    }
}

fn shown(cpus: &CpuSet) -> String {
    if cpus.is_empty() { "none".to_owned() } else { cpus.to_string() }
}
