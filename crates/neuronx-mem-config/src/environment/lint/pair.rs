//! Variables that do not go together, rule by rule.
//!
//! Knows the two variables of a rule, how much it matters and how it reads. When a rule is violated
//! is in `rules`.

use std::fmt;

use super::super::variable::Variable;
use super::super::variables::*;
use crate::Severity;

/// One rule about two variables: the first is in the wrong, or in vain, because of the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PairRule {
    /// Collectives on other streams, and no other streams.
    HostCollectivesWithoutStreams,
    /// Collectives on other streams, and every submission waits.
    HostCollectivesWithBlocking,
    /// A NEFF directory for a cache that is off.
    NeffDirectoryWithoutCache,
    /// A lock timeout for a cache that is off.
    LockTimeoutWithoutCache,
    /// A choice of the key for a cache that is off.
    KeyWithoutCache,
    /// An HLO directory for a cache that is off.
    HloDirectoryWithoutCache,
    /// A place for an NKI cache that is off.
    NkiPlaceWithoutCache,
    /// Lock files in the directory that may be shared.
    LocksInSharedDirectory,
    /// A device profile without the cache that has its NEFF files.
    DeviceProfileWithoutCache,
    /// Modes for a session that does not start.
    ModesWithoutSession,
    /// Ranks for a session that does not start.
    RanksWithoutSession,
    /// A limit of events for a session that does not start.
    EventsWithoutSession,
    /// Cores for a session that does not start.
    CoresWithoutSession,
    /// An output directory for a session that does not start.
    OutputWithoutSession,
    /// A rank that is not recorded.
    RankNotRecorded,
    /// A directory of metrics without metrics.
    MetricsDirectoryWithoutTables,
    /// A check of the packed view in a mode without it.
    OverflowCheckWithoutPacking,
    /// Two sizes of a logical core.
    LogicalCoreSizes,
    /// A number of cores beside a list of cores.
    CoreCountBesideCores,
    /// A contiguous scratchpad where none is used.
    ContiguousScratchpadOnSmallCores,
    /// Tensor dumps into a directory that is not kept.
    DumpsWithoutKeeping,
    /// A run without devices, and no platform to compile for.
    CompileOnlyWithoutPlatform,
}

/// What is said about a rule.
struct Row {
    name: &'static str,
    subject: Variable,
    other: Variable,
    severity: Severity,
    /// What stands between the names of the two variables.
    relation: &'static str,
    consequence: &'static str,
}

impl PairRule {
    /// Every rule, in the order of the registry.
    pub const ALL: [Self; 22] = [
        Self::DumpsWithoutKeeping,
        Self::CompileOnlyWithoutPlatform,
        Self::NeffDirectoryWithoutCache,
        Self::HloDirectoryWithoutCache,
        Self::LocksInSharedDirectory,
        Self::LockTimeoutWithoutCache,
        Self::KeyWithoutCache,
        Self::NkiPlaceWithoutCache,
        Self::MetricsDirectoryWithoutTables,
        Self::ModesWithoutSession,
        Self::DeviceProfileWithoutCache,
        Self::RanksWithoutSession,
        Self::EventsWithoutSession,
        Self::CoresWithoutSession,
        Self::OutputWithoutSession,
        Self::RankNotRecorded,
        Self::HostCollectivesWithoutStreams,
        Self::HostCollectivesWithBlocking,
        Self::OverflowCheckWithoutPacking,
        Self::LogicalCoreSizes,
        Self::CoreCountBesideCores,
        Self::ContiguousScratchpadOnSmallCores,
    ];

    /// Returns the name for machine-readable output, such as `logical_core_sizes`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the variable that is in the wrong or in vain.
    pub fn subject(self) -> Variable {
        self.row().subject
    }

    /// Returns the variable that makes it so.
    pub fn other(self) -> Variable {
        self.row().other
    }

    /// Returns how much it matters: an error when something that is switched on does not happen, a
    /// warning when a value is in vain or not as meant, a note when it may well be meant so.
    pub fn severity(self) -> Severity {
        self.row().severity
    }

    fn row(self) -> Row {
        match self {
            Self::HostCollectivesWithoutStreams => Row {
                name: "host_collectives_without_streams",
                subject: TORCH_NEURONX_ENABLE_HOST_CC,
                other: TORCH_NEURONX_ENABLE_STREAMS,
                severity: Severity::Error,
                relation: "is on while",
                consequence: "is off: collectives have no other stream to run on",
            },
            Self::HostCollectivesWithBlocking => Row {
                name: "host_collectives_with_blocking",
                subject: TORCH_NEURONX_ENABLE_HOST_CC,
                other: NEURON_LAUNCH_BLOCKING,
                severity: Severity::Warning,
                relation: "is on while",
                consequence: "is on too: each submission waits, so nothing overlaps",
            },
            Self::NeffDirectoryWithoutCache => {
                without_cache("neff_directory_without_cache", TORCH_NEURONX_NEFF_CACHE_DIR)
            }
            Self::LockTimeoutWithoutCache => {
                without_cache("lock_timeout_without_cache", TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT)
            }
            Self::KeyWithoutCache => without_cache("key_without_cache", TORCH_NEURONX_NEFF_KEY_FROM_HLO),
            Self::HloDirectoryWithoutCache => Row {
                name: "hlo_directory_without_cache",
                subject: TORCH_NEURONX_HLO_CACHE_DIR,
                other: TORCH_NEURONX_HLO_CACHE,
                severity: Severity::Note,
                relation: "is set while",
                consequence: "is off: eager code does not use it",
            },
            Self::NkiPlaceWithoutCache => Row {
                name: "nki_place_without_cache",
                subject: NKI_TRACE_CACHE_URL,
                other: NKI_ENABLE_TRACE_CACHE,
                severity: Severity::Warning,
                relation: "has no effect while",
                consequence: "is off",
            },
            Self::LocksInSharedDirectory => Row {
                name: "locks_in_shared_directory",
                subject: TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR,
                other: TORCH_NEURONX_NEFF_CACHE_DIR,
                severity: Severity::Warning,
                relation: "lies in",
                consequence: "which may be shared: locks have to be on a local file system",
            },
            Self::DeviceProfileWithoutCache => Row {
                name: "device_profile_without_cache",
                subject: TORCH_NEURONX_PROFILE_MODES,
                other: TORCH_NEURONX_NEFF_DISABLE_CACHE,
                severity: Severity::Error,
                relation: "has `device` while",
                consequence: "is on: the device profile has no NEFF files to copy",
            },
            Self::ModesWithoutSession => {
                without_session("modes_without_session", TORCH_NEURONX_PROFILE_MODES)
            }
            Self::RanksWithoutSession => {
                without_session("ranks_without_session", TORCH_NEURONX_PROFILE_RANKS)
            }
            Self::EventsWithoutSession => {
                without_session("events_without_session", TORCH_NEURONX_PROFILE_MAX_EVENTS_PER_NC)
            }
            Self::CoresWithoutSession => {
                without_session("cores_without_session", TORCH_NEURONX_PROFILE_CAPTURE_NC)
            }
            Self::OutputWithoutSession => {
                without_session("output_without_session", TORCH_NEURONX_PROFILE_OUTPUT_DIR)
            }
            Self::RankNotRecorded => Row {
                name: "rank_not_recorded",
                subject: TORCH_NEURONX_PROFILE_RANKS,
                other: RANK,
                severity: Severity::Note,
                relation: "does not have the rank of",
                consequence: "so this process records no profile",
            },
            Self::MetricsDirectoryWithoutTables => Row {
                name: "metrics_directory_without_tables",
                subject: TORCH_NEURONX_METRICS_DIR,
                other: TORCH_NEURONX_ENABLED_METRIC_TABLES,
                severity: Severity::Warning,
                relation: "has no effect while",
                consequence: "names no table",
            },
            Self::OverflowCheckWithoutPacking => Row {
                name: "overflow_check_without_packing",
                subject: TORCH_NEURONX_PACKED_INT64_CHECK_OVERFLOW,
                other: TORCH_NEURONX_INT64_MODE,
                severity: Severity::Error,
                relation: "is on while",
                consequence: "is neither native nor packed: nothing is packed, so nothing is checked",
            },
            Self::LogicalCoreSizes => Row {
                name: "logical_core_sizes",
                subject: NEURON_RT_VIRTUAL_CORE_SIZE,
                other: NEURON_LOGICAL_NC_CONFIG,
                severity: Severity::Warning,
                relation: "disagrees with",
                consequence: "which wins",
            },
            Self::CoreCountBesideCores => Row {
                name: "core_count_beside_cores",
                subject: NEURON_RT_NUM_CORES,
                other: NEURON_RT_VISIBLE_CORES,
                severity: Severity::Warning,
                relation: "has no effect beside",
                consequence: "which wins",
            },
            Self::ContiguousScratchpadOnSmallCores => Row {
                name: "contiguous_scratchpad_on_small_cores",
                subject: NEURON_RT_CONTIGUOUS_SCRATCHPAD,
                other: NEURON_LOGICAL_NC_CONFIG,
                severity: Severity::Warning,
                relation: "has no effect while",
                consequence: "is 1",
            },
            Self::DumpsWithoutKeeping => Row {
                name: "dumps_without_keeping",
                subject: TORCH_NEURONX_DYNAMO_TENSOR_DUMPS,
                other: TORCH_NEURONX_PRESERVE_COMPILATION_ARTIFACTS,
                severity: Severity::Note,
                relation: "is on while",
                consequence: "is off: the dumps may not outlive the run",
            },
            Self::CompileOnlyWithoutPlatform => Row {
                name: "compile_only_without_platform",
                subject: TORCH_NEURONX_COMPILE_ONLY,
                other: NEURON_PLATFORM_TARGET_OVERRIDE,
                severity: Severity::Note,
                relation: "is on while",
                consequence: "is not set: a host without a device has no platform to ask for",
            },
        }
    }
}

fn without_cache(name: &'static str, subject: Variable) -> Row {
    Row {
        name,
        subject,
        other: TORCH_NEURONX_NEFF_DISABLE_CACHE,
        severity: Severity::Warning,
        relation: "has no effect while",
        consequence: "is on",
    }
}

fn without_session(name: &'static str, subject: Variable) -> Row {
    Row {
        name,
        subject,
        other: TORCH_NEURONX_PROFILE_DEFAULT_SESSION,
        severity: Severity::Warning,
        relation: "has no effect while",
        consequence: "is off",
    }
}

impl fmt::Display for PairRule {
    /// Prints both names and the consequence in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { subject, other, relation, consequence, .. } = self.row();
        let comma = if consequence.starts_with("which") || consequence.starts_with("so ") { "," } else { "" };
        write!(f, "{subject} {relation} {other}{comma} {consequence}")
    }
}
