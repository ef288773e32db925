//! Where compiled code is kept.
//!
//! Knows the settings of the NEFF and HLO caches. Refuses to look at the directories: whether locks
//! work there is for the cache itself to find out.

use std::path::PathBuf;

use super::collect::Collector;
use crate::{EnvFinding, Environment, variables};

/// The persistent caches (environment variables reference; guidelines for memory management, "Place
/// caches deliberately").
///
/// ```
/// use neuronx_mem_config::{CacheSettings, Environment};
///
/// let environment = Environment::from_pairs([("TORCH_NEURONX_NEFF_CACHE_DIR", "/fsx/neff")]);
/// let (cache, findings) = CacheSettings::from_environment(&environment);
/// assert_eq!(cache.neff_dir, std::path::Path::new("/fsx/neff"));
/// assert_eq!((cache.lock_timeout_seconds, findings.len()), (1200, 0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheSettings {
    /// Whether compiled NEFF files are kept on disk.
    pub keeps_neff: bool,
    /// Where they are kept; may be shared.
    pub neff_dir: PathBuf,
    /// Whether eager code keeps its lowered HLO on disk.
    pub keeps_hlo: bool,
    /// Where it is kept.
    pub hlo_dir: PathBuf,
    /// Where lock files and scratch files go; has to be on a local file system.
    pub local_dir: PathBuf,
    /// How long to wait for the lock of one key, in seconds; at least 1.
    pub lock_timeout_seconds: u64,
    /// Whether the key of a NEFF file comes from its HLO instead of the key in memory.
    pub key_from_hlo: bool,
}

impl CacheSettings {
    /// Reads the settings, beside what is wrong with them.
    pub fn from_environment(environment: &Environment) -> (Self, Vec<EnvFinding>) {
        let mut collector = Collector::new(environment);
        let settings = Self {
            neff_dir: collector.path(variables::TORCH_NEURONX_NEFF_CACHE_DIR),
            hlo_dir: collector.path(variables::TORCH_NEURONX_HLO_CACHE_DIR),
            keeps_hlo: collector.bool(variables::TORCH_NEURONX_HLO_CACHE),
            local_dir: collector.path(variables::TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR),
            keeps_neff: !collector.bool(variables::TORCH_NEURONX_NEFF_DISABLE_CACHE),
            lock_timeout_seconds: collector.int(variables::TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT),
            key_from_hlo: collector.bool(variables::TORCH_NEURONX_NEFF_KEY_FROM_HLO),
        };
        (settings, collector.finish())
    }
}
