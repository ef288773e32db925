//! The four modes by name.
//!
//! Knows the names of `torchrun --numa-binding`. What each does is in `share`.

use std::fmt;

/// Which CPUs near its device a rank gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AffinityMode {
    /// All CPUs of the node.
    #[default]
    Node,
    /// All CPUs of the package that the node is in.
    Socket,
    /// Physical cores of the node that no other rank has.
    Exclusive,
    /// CPUs of the node that share a last-level cache, the caches in turn.
    CoreComplex,
}

impl AffinityMode {
    /// Every mode, the default first.
    pub const ALL: [Self; 4] = [Self::Node, Self::Socket, Self::Exclusive, Self::CoreComplex];

    /// Returns the mode of exactly this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// Returns the name, such as `core-complex`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Socket => "socket",
            Self::Exclusive => "exclusive",
            Self::CoreComplex => "core-complex",
        }
    }

    /// Says whether [`Host::layout`](crate::Host::layout) is needed.
    pub const fn needs_layout(self) -> bool {
        !matches!(self, Self::Node)
    }

    /// What of the layout it needs, for messages.
    pub(super) const fn needs(self) -> &'static str {
        match self {
            Self::Node => "nothing",
            Self::Socket => "the package",
            Self::Exclusive => "the physical core",
            Self::CoreComplex => "the cache",
        }
    }
}

impl fmt::Display for AffinityMode {
    /// Prints the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
