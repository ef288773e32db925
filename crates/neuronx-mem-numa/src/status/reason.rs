//! Why a process is not pinned.
//!
//! Knows the reasons in words. What to do about them is for the reader.

use crate::{CpuSet, NodeId, PlanError};

/// Why a process is not pinned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotPinned {
    /// `NEURON_NUMA_PIN` is off.
    #[error("NEURON_NUMA_PIN is off")]
    Disabled,
    /// The devices are not known.
    #[error("no topology: {message}")]
    NoTopology {
        /// The error, in one line.
        message: String,
    },
    /// The process is no rank: a single process without a process group is not pinned.
    #[error("the process has no local rank")]
    NoRank,
    /// The rank has no place.
    #[error(transparent)]
    NoPlace(#[from] PlanError),
    /// The process may run on other nodes.
    #[error("it may run outside NUMA node {node}, on CPUs {elsewhere}")]
    Outside {
        /// The node of the rank's device.
        node: NodeId,
        /// The CPUs of other nodes that its main thread may run on.
        elsewhere: CpuSet,
    },
}

impl NotPinned {
    /// Returns the reason in one word, for programs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::NoTopology { .. } => "no_topology",
            Self::NoRank => "no_rank",
            Self::NoPlace(_) => "no_place",
            Self::Outside { .. } => "outside",
        }
    }
}
