//! Numbers that must not be mixed up: CPUs, NUMA nodes, ranks, and how many cores make one.
//!
//! Knows their ranges. Refuses arithmetic on them.

use std::fmt;

/// A logical CPU, as Linux numbers them: 0 to 8191.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuId(pub(crate) u32);

/// A NUMA node, as Linux numbers them: 0 to 1023.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

/// A rank on this host, from 0: what `torchrun` puts into `LOCAL_RANK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalRank(pub u32);

/// Physical NeuronCores in one logical core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lnc {
    /// Each physical core by itself.
    One,
    /// Two physical cores together.
    Two,
}

impl CpuId {
    /// Returns the CPU of this number; none above 8191, the most that Linux can be built for.
    pub const fn new(number: u32) -> Option<Self> {
        if number <= <Self as crate::sets::SetIndex>::MAX { Some(Self(number)) } else { None }
    }

    /// Returns the number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl NodeId {
    /// Returns the node of this number; none above 1023, the most that Linux can be built for.
    pub const fn new(number: u32) -> Option<Self> {
        if number <= <Self as crate::sets::SetIndex>::MAX { Some(Self(number)) } else { None }
    }

    /// Returns the number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl LocalRank {
    /// Returns the local rank of a global one where every host has as many ranks; none for no ranks.
    ///
    /// ```
    /// use neuronx_mem_numa::LocalRank;
    ///
    /// assert_eq!(LocalRank::of_global(70, 64), Some(LocalRank(6)));
    /// assert_eq!(LocalRank::of_global(70, 0), None);
    /// ```
    pub const fn of_global(rank: u32, local_world_size: u32) -> Option<Self> {
        match rank.checked_rem(local_world_size) {
            Some(rank) => Some(Self(rank)),
            None => None,
        }
    }
}

impl Lnc {
    /// Returns the configuration of this number, 1 or 2.
    pub const fn of_number(number: u64) -> Option<Self> {
        match number {
            1 => Some(Self::One),
            2 => Some(Self::Two),
            _ => None,
        }
    }

    /// Returns the number, 1 or 2.
    pub const fn number(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

impl fmt::Display for CpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for LocalRank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Lnc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}
