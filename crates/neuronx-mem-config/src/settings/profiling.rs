//! What the default profiling session records.
//!
//! Knows the options of the session. A `NeuronConfig` of the program replaces all of them, and only
//! the program knows whether there is one.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use super::collect::Collector;
use super::cores::CoreSet;
use crate::{EnvFinding, Environment, variables};

/// The options of the default profiling session (environment variables reference, "Profiling").
///
/// ```
/// use neuronx_mem_config::{Environment, ProfileMode, ProfilingDefaults};
///
/// let pairs = [("TORCH_NEURONX_PROFILE_MODES", "device,runtime"), ("TORCH_NEURONX_PROFILE_CAPTURE_NC", "2-5")];
/// let (profiling, findings) = ProfilingDefaults::from_environment(&Environment::from_pairs(pairs));
/// assert!(findings.is_empty());
/// assert!(profiling.modes.contains(&ProfileMode::Device));
/// assert_eq!(profiling.cores.to_string(), "2-5");
/// assert!(profiling.is_recorded(0) && !profiling.is_recorded(1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfilingDefaults {
    /// Whether a session starts without a `NeuronConfig`.
    pub default_session: bool,
    /// What it records; never empty.
    pub modes: BTreeSet<ProfileMode>,
    /// The global ranks that record; never empty.
    pub ranks: BTreeSet<u32>,
    /// The most trace events that are kept for one NeuronCore; at least 1.
    pub max_events_per_core: u64,
    /// The NeuronCores that are recorded; never empty.
    pub cores: CoreSet,
    /// Where the files of the session go; relative paths start at the working directory.
    pub output_dir: PathBuf,
}

/// One source of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProfileMode {
    /// The runtime's trace of the system.
    Runtime,
    /// The load of the CPUs.
    CpuUtil,
    /// The memory of the host.
    HostMemory,
    /// The device itself, which takes device memory for notifications.
    Device,
}

impl ProfilingDefaults {
    /// Reads the options, beside what is wrong with them.
    pub fn from_environment(environment: &Environment) -> (Self, Vec<EnvFinding>) {
        let mut collector = Collector::new(environment);
        let default_session = collector.bool(variables::TORCH_NEURONX_PROFILE_DEFAULT_SESSION);
        let modes = collector.list(variables::TORCH_NEURONX_PROFILE_MODES);
        let ranks = collector.list(variables::TORCH_NEURONX_PROFILE_RANKS);
        let profiling = Self {
            default_session,
            modes: modes.iter().filter_map(|name| ProfileMode::by_name(name)).collect(),
            ranks: ranks.iter().filter_map(|rank| rank.parse().ok()).collect(),
            max_events_per_core: collector.int(variables::TORCH_NEURONX_PROFILE_MAX_EVENTS_PER_NC),
            cores: CoreSet::of_items(&collector.list(variables::TORCH_NEURONX_PROFILE_CAPTURE_NC)),
            output_dir: collector.path(variables::TORCH_NEURONX_PROFILE_OUTPUT_DIR),
        };
        (profiling, collector.finish())
    }

    /// Says whether the process of a global rank records a profile by default.
    pub fn is_recorded(&self, rank: u32) -> bool {
        self.default_session && self.ranks.contains(&rank)
    }

    /// Returns the directory to which the device mode copies NEFF files; none without that mode.
    pub fn neff_dir(&self) -> Option<PathBuf> {
        let has_device = self.modes.contains(&ProfileMode::Device);
        has_device.then(|| self.output_dir.join("neffs"))
    }
}

impl ProfileMode {
    /// Every mode: the default ones, then `device`.
    pub const ALL: [Self; 4] = [Self::Runtime, Self::CpuUtil, Self::HostMemory, Self::Device];

    /// Returns the mode of exactly this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// Returns the name in the variable: `runtime`, `cpu_util`, `host_memory` or `device`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runtime => "runtime",
            Self::CpuUtil => "cpu_util",
            Self::HostMemory => "host_memory",
            Self::Device => "device",
        }
    }
}

impl fmt::Display for ProfileMode {
    /// Prints the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
