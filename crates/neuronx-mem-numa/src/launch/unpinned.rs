//! Why the launcher starts plain Python.
//!
//! Knows the reasons, and which of them every rank of a host shares.

use crate::{NodeId, NodeSet, PlanError};

/// Why the launcher starts plain Python.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unpinned {
    /// `NEURON_NUMA_PIN` is off.
    #[error("NEURON_NUMA_PIN is off")]
    Disabled,
    /// `LOCAL_RANK` is not set.
    #[error("LOCAL_RANK is not set")]
    NoRank,
    /// `LOCAL_RANK` is no number.
    #[error("LOCAL_RANK is {text:?}, which is no rank")]
    BadRank {
        /// Its text.
        text: String,
    },
    /// There is no `numactl`.
    #[error("numactl is not on PATH")]
    NoNumactl,
    /// The devices are not known.
    #[error("{message}")]
    NoTopology {
        /// The error, in one line.
        message: String,
    },
    /// The rank has no place.
    #[error(transparent)]
    NoPlace(#[from] PlanError),
    /// The process may not take memory from the node.
    #[error("memory of NUMA node {node} is not allowed here; allowed is that of {allowed}")]
    MemoryNotAllowed {
        /// The node.
        node: NodeId,
        /// What is allowed.
        allowed: NodeSet,
    },
    /// `numactl` ran and failed, as it does where a container forbids its system calls.
    #[error("numactl cannot bind to NUMA node {node} here")]
    NumactlFails {
        /// The node.
        node: NodeId,
    },
}

impl Unpinned {
    /// Says whether the user asked for it, so that there is nothing to warn of.
    pub const fn is_wanted(&self) -> bool {
        matches!(self, Self::Disabled)
    }

    /// Says whether it is so for every rank of the host, so that one of them is enough to tell.
    pub const fn is_of_host(&self) -> bool {
        matches!(self, Self::Disabled | Self::NoNumactl | Self::NoTopology { .. })
    }
}
