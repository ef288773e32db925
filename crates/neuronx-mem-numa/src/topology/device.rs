//! One device, and the logical cores in it.
//!
//! Knows what is remembered of each. Refuses to know where it was read.

use super::bdf::Bdf;
use crate::{CpuSet, Lnc, NodeId};

/// A Neuron device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Device {
    /// Its number here; the N of `/dev/neuronN`.
    pub index: u32,
    /// Its place on the PCI bus.
    pub bdf: Option<Bdf>,
    /// The NUMA node that it is attached to; none when nobody knows.
    pub node: Option<NodeId>,
    /// Who said so.
    pub node_source: NodeSource,
    /// The CPUs near it; empty when nobody knows.
    pub cpus: CpuSet,
    /// Logical cores in it; at least 1.
    pub n_cores: u32,
    /// Physical cores in a logical one; tools before trn2 do not say.
    pub lnc: Option<Lnc>,
    /// Ids of its logical cores in ascending order, as `NEURON_RT_VISIBLE_CORES` has them; empty when
    /// the tool does not say.
    pub core_ids: Vec<u32>,
    /// Device memory, in bytes.
    pub memory_bytes: Option<u64>,
}

/// Who said which node a device is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NodeSource {
    /// `neuron-ls`.
    Tool,
    /// `neuron-ls` or `/sys` said -1: the machine has one node, and that is 0.
    SingleNode,
    /// `/sys/bus/pci/devices/<address>/numa_node`.
    Sysfs,
    /// The one node that has all CPUs near the device.
    NearCpus,
    /// Nobody.
    Unknown,
}

/// A logical core: what a rank runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct LogicalCore {
    /// Its id, as `NEURON_RT_VISIBLE_CORES` has it.
    pub id: u32,
    /// The place of its device in [`Topology::devices`](crate::Topology::devices).
    pub device_idx: usize,
}

impl NodeSource {
    /// Returns the source in a few words, such as `neuron-ls`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tool => "neuron-ls",
            Self::SingleNode => "single node",
            Self::Sysfs => "sysfs",
            Self::NearCpus => "near CPUs",
            Self::Unknown => "unknown",
        }
    }
}
