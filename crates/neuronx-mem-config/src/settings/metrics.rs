//! Which metric tables are written, and where.
//!
//! Knows the tables of this workspace. Names of other tables are kept and left to others.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use super::collect::Collector;
use crate::{EnvFinding, Environment, variables};

/// The metric tables to write (environment variables reference, "Metrics").
///
/// ```
/// use neuronx_mem_config::{Environment, MetricTable, MetricsSettings};
///
/// let environment = Environment::from_pairs([("TORCH_NEURONX_ENABLED_METRIC_TABLES", "memory,oom")]);
/// let (metrics, _) = MetricsSettings::from_environment(&environment);
/// assert!(metrics.is_enabled(MetricTable::Oom) && !metrics.is_enabled(MetricTable::Streams));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetricsSettings {
    /// The tables of this workspace that are enabled; empty by default.
    pub tables: BTreeSet<MetricTable>,
    /// Names of other tables, in the order of the text.
    pub other_tables: Vec<String>,
    /// The directory of the files.
    pub dir: PathBuf,
}

/// A table of this workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MetricTable {
    /// Reserved, allocated and active bytes.
    Memory,
    /// Segments and how full they are.
    Segments,
    /// Failed allocations and retries.
    Oom,
    /// Work that is pending on each stream.
    Streams,
}

impl MetricsSettings {
    /// Reads the settings, beside what is wrong with them.
    pub fn from_environment(environment: &Environment) -> (Self, Vec<EnvFinding>) {
        let mut collector = Collector::new(environment);
        let names = collector.list(variables::TORCH_NEURONX_ENABLED_METRIC_TABLES);
        let tables = names.iter().filter_map(|name| MetricTable::by_name(name)).collect();
        let mut other_tables = names;
        other_tables.retain(|name| MetricTable::by_name(name).is_none());
        let dir = collector.path(variables::TORCH_NEURONX_METRICS_DIR);
        (Self { tables, other_tables, dir }, collector.finish())
    }

    /// Says whether a table is to be written.
    pub fn is_enabled(&self, table: MetricTable) -> bool {
        self.tables.contains(&table)
    }
}

impl MetricTable {
    /// Every table.
    pub const ALL: [Self; 4] = [Self::Memory, Self::Segments, Self::Oom, Self::Streams];

    /// Returns the table of exactly this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }

    /// Returns the name in the variable: `memory`, `segments`, `oom` or `streams`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Segments => "segments",
            Self::Oom => "oom",
            Self::Streams => "streams",
        }
    }
}

impl fmt::Display for MetricTable {
    /// Prints the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
