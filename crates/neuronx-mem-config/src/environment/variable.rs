//! One variable of the registry.
//!
//! Knows what the pages say about a variable. Refuses to know its value: that is for a snapshot of
//! the environment.

use std::fmt;

use super::default::DefaultValue;
use super::kind::Kind;
use super::variables;

/// A documented environment variable; the constants are in [`variables`].
///
/// Variables are compared by name, which is unique in the registry.
///
/// ```
/// use neuronx_mem_config::{Group, Variable, variables};
///
/// let level = variables::TORCH_NEURONX_LOG_LEVEL;
/// assert_eq!(level.name(), "TORCH_NEURONX_LOG_LEVEL");
/// assert_eq!((level.kind().name(), level.group()), ("int", Group::General));
/// assert_eq!(level.default_value().to_string(), "1");
/// assert_eq!(Variable::by_name("TORCH_NEURONX_LOG_LEVEL"), Some(level));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) default_value: DefaultValue,
    pub(super) group: Group,
    pub(super) page: Page,
    /// Package names; empty when nobody acts on the variable.
    pub(super) honoured_by: &'static [&'static str],
    /// The lines of the constant's own documentation, each with the blank that follows `///`.
    pub(super) lines: &'static str,
}

/// What a variable is about; the groups of the reference, and three for other pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Group {
    /// The `neuron` backend of `torch.compile`.
    Backend,
    /// Caches on disk.
    Cache,
    /// Eager execution.
    General,
    /// Metric tables.
    Metrics,
    /// The default profiling session.
    Profiling,
    /// Streams and collectives.
    Distributed,
    /// Device memory.
    Allocator,
    /// 64-bit integers and NUMA placement, from the guidelines for memory management.
    Host,
    /// The Neuron runtime, as far as it moves device memory.
    Runtime,
}

/// The page that describes a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Page {
    /// The environment variables reference, in a table.
    Reference,
    /// The environment variables reference, in passing and without type or default.
    ReferenceText,
    /// The guidelines for memory management.
    Guidelines,
    /// The documentation of the Neuron runtime.
    Runtime,
}

impl Variable {
    /// Returns the variable of exactly this name. Cost: O(n) over the registry.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|variable| variable.name == name)
    }

    /// Returns every variable, group by group and in the order of its page.
    pub fn all() -> impl Iterator<Item = Self> {
        variables::TABLES.iter().copied().flatten().copied()
    }

    /// Returns the name in the environment.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Returns the type and what it accepts.
    pub const fn kind(self) -> Kind {
        self.kind
    }

    /// Returns what holds while the variable is not set.
    pub const fn default_value(self) -> DefaultValue {
        self.default_value
    }

    /// Returns what the variable is about.
    pub const fn group(self) -> Group {
        self.group
    }

    /// Returns the page that describes the variable.
    pub const fn page(self) -> Page {
        self.page
    }

    /// Returns the packages of this workspace that act on the variable; empty for "recorded only".
    pub const fn honoured_by(self) -> &'static [&'static str] {
        self.honoured_by
    }

    /// Returns what the variable does, in one line of Markdown.
    pub fn documentation(self) -> &'static str {
        self.lines.trim()
    }
}

impl PartialEq for Variable {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Variable {}

impl fmt::Display for Variable {
    /// Prints the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl Group {
    /// Every group, in the order of the registry.
    pub const ALL: [Self; 9] = [
        Self::Backend,
        Self::Cache,
        Self::General,
        Self::Metrics,
        Self::Profiling,
        Self::Distributed,
        Self::Allocator,
        Self::Host,
        Self::Runtime,
    ];

    /// Returns the heading of the group.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Backend => "The neuron backend of torch.compile",
            Self::Cache => "Caches on disk",
            Self::General => "Eager execution",
            Self::Metrics => "Metric tables",
            Self::Profiling => "Profiling",
            Self::Distributed => "Streams and collectives",
            Self::Allocator => "Device memory",
            Self::Host => "64-bit integers and NUMA",
            Self::Runtime => "The Neuron runtime",
        }
    }
}

impl fmt::Display for Group {
    /// Prints the group in one word, such as `cache`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Backend => "backend",
            Self::Cache => "cache",
            Self::General => "general",
            Self::Metrics => "metrics",
            Self::Profiling => "profiling",
            Self::Distributed => "distributed",
            Self::Allocator => "allocator",
            Self::Host => "host",
            Self::Runtime => "runtime",
        })
    }
}

impl fmt::Display for Page {
    /// Prints the page in one word: `reference`, `guidelines` or `runtime`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Reference | Self::ReferenceText => "reference",
            Self::Guidelines => "guidelines",
            Self::Runtime => "runtime",
        })
    }
}
