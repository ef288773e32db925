//! When two variables do not go together.
//!
//! Knows the condition of each rule. A rule about a value in vain asks whether it is set at all,
//! because a default is never in vain.

use super::super::reading::Origin;
use super::super::snapshot::Environment;
use super::super::variable::Variable;
use super::super::variables::*;
use super::pair::PairRule;

/// The modes in which the packed view is used.
const PACKING_MODES: [&str; 2] = ["native", "packed"];

/// The mode that needs the NEFF files of the persistent cache.
const DEVICE_MODE: &str = "device";

impl PairRule {
    /// Says whether an environment violates the rule. Cost: O(length of the two texts).
    pub fn is_violated(self, environment: &Environment) -> bool {
        let is_on = |variable| environment.bool(variable).value;
        let is_set = |variable| environment.read(variable).origin == Origin::Set;
        let is_in_vain = |variable: Variable, because: bool| because && is_set(variable);
        match self {
            Self::HostCollectivesWithoutStreams => {
                is_on(TORCH_NEURONX_ENABLE_HOST_CC) && !is_on(TORCH_NEURONX_ENABLE_STREAMS)
            }
            Self::HostCollectivesWithBlocking => {
                is_on(TORCH_NEURONX_ENABLE_HOST_CC)
                    && is_on(TORCH_NEURONX_ENABLE_STREAMS)
                    && is_on(NEURON_LAUNCH_BLOCKING)
            }
            Self::NeffDirectoryWithoutCache | Self::LockTimeoutWithoutCache | Self::KeyWithoutCache => {
                is_in_vain(self.subject(), is_on(TORCH_NEURONX_NEFF_DISABLE_CACHE))
            }
            Self::HloDirectoryWithoutCache => is_in_vain(self.subject(), !is_on(TORCH_NEURONX_HLO_CACHE)),
            Self::NkiPlaceWithoutCache => is_in_vain(self.subject(), !is_on(NKI_ENABLE_TRACE_CACHE)),
            Self::LocksInSharedDirectory => locks_are_in_shared_directory(environment),
            Self::DeviceProfileWithoutCache => {
                has_item(environment, TORCH_NEURONX_PROFILE_MODES, DEVICE_MODE)
                    && is_on(TORCH_NEURONX_PROFILE_DEFAULT_SESSION)
                    && is_on(TORCH_NEURONX_NEFF_DISABLE_CACHE)
            }
            Self::ModesWithoutSession
            | Self::RanksWithoutSession
            | Self::EventsWithoutSession
            | Self::CoresWithoutSession
            | Self::OutputWithoutSession => {
                is_in_vain(self.subject(), !is_on(TORCH_NEURONX_PROFILE_DEFAULT_SESSION))
            }
            Self::RankNotRecorded => {
                is_set(TORCH_NEURONX_PROFILE_RANKS)
                    && is_set(RANK)
                    && is_on(TORCH_NEURONX_PROFILE_DEFAULT_SESSION)
                    && !is_rank_recorded(environment)
            }
            Self::MetricsDirectoryWithoutTables => {
                let tables = environment.list(TORCH_NEURONX_ENABLED_METRIC_TABLES).value;
                is_in_vain(self.subject(), tables.is_empty())
            }
            Self::OverflowCheckWithoutPacking => {
                let mode = environment.text(TORCH_NEURONX_INT64_MODE).value;
                is_on(self.subject()) && !PACKING_MODES.contains(&mode.as_str())
            }
            Self::LogicalCoreSizes => {
                let sizes = [self.subject(), self.other()].map(|variable| environment.int(variable).value);
                is_set(self.subject()) && is_set(self.other()) && sizes[0] != sizes[1]
            }
            Self::CoreCountBesideCores => is_in_vain(self.subject(), is_set(self.other())),
            Self::ContiguousScratchpadOnSmallCores => {
                let is_small = environment.int(NEURON_LOGICAL_NC_CONFIG).value == 1;
                is_in_vain(self.subject(), is_small && is_on(self.subject()))
            }
            Self::DumpsWithoutKeeping => is_on(self.subject()) && !is_on(self.other()),
            Self::CompileOnlyWithoutPlatform => is_on(self.subject()) && !is_set(self.other()),
        }
    }
}

/// Compares texts, not file systems: links and relative paths are not followed.
fn locks_are_in_shared_directory(environment: &Environment) -> bool {
    let [local, shared] = [TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR, TORCH_NEURONX_NEFF_CACHE_DIR]
        .map(|variable| environment.path(variable).value);
    local.starts_with(shared) && !environment.bool(TORCH_NEURONX_NEFF_DISABLE_CACHE).value
}

fn has_item(environment: &Environment, variable: Variable, item: &str) -> bool {
    environment.list(variable).value.iter().any(|known| known == item)
}

fn is_rank_recorded(environment: &Environment) -> bool {
    let rank = environment.int(RANK).value;
    let ranks = environment.list(TORCH_NEURONX_PROFILE_RANKS).value;
    ranks.iter().any(|item| item.parse() == Ok(rank))
}
