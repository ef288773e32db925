//! Block sizes that a snapshot does not say. Knows how this allocator and PyTorch's divide a free
//! block (allocator semantics §2 and §3); follows what is free while the history is gone through.

use std::collections::BTreeMap;

use neuronx_mem::AllocatorConfig;
use neuronx_mem::config::ConfigKey;
use neuronx_mem::pool::{PlacementPolicy, PoolKind};
use neuronx_mem_snapshot::{Snapshot, keys};

use super::divisions::Divisions;

const MIB: u64 = 1 << 20;

/// Whose rules hold.
#[derive(Clone, Debug)]
pub(super) enum Rules {
    Neuron(Box<(AllocatorConfig, PlacementPolicy)>),
    PyTorch { max_split_bytes: u64, is_expandable: bool, divisions: Divisions },
}

/// A request under the rules.
struct Wanted {
    /// Bytes that count when the block is split off.
    block_bytes: u64,
    extent_bytes: u64,
    /// A smaller rest stays with the block.
    least_rest_bytes: u64,
    max_split_bytes: u64,
}

/// The segment that a block is taken from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) end: u64,
    /// It has just come from the runtime, and may be carved whatever its size.
    pub(super) is_fresh: bool,
}

/// The blocks in use by address, and with them what is free.
#[derive(Clone, Debug)]
pub(super) struct Carver {
    rules: Rules,
    /// Ends of extents by start.
    used: BTreeMap<u64, u64>,
}

impl Rules {
    /// Ours where the snapshot carries our settings.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        if snapshot.setting(keys::CONFIG_HASH).is_none() {
            let max_split = snapshot.setting("max_split_size").and_then(|value| value.as_int());
            let is_expandable =
                snapshot.setting("expandable_segments").and_then(|value| value.as_bool()).unwrap_or(false);
            let max_split_bytes = max_split.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(u64::MAX);
            let divisions = Divisions::of(snapshot);
            return Self::PyTorch { max_split_bytes, is_expandable, divisions };
        }
        let setting = |key: &ConfigKey| {
            let value = snapshot.setting(key.name())?.as_int()?;
            Some(format!("{}={value}", key.name()))
        };
        let settings: Vec<String> = ConfigKey::ALL.iter().filter_map(setting).collect();
        let config = AllocatorConfig::parse(&settings.join(",")).config;
        let policy = PlacementPolicy::new(&config);
        Self::Neuron(Box::new((config, policy)))
    }

    pub(super) fn is_own(&self) -> bool {
        matches!(self, Self::Neuron(_))
    }

    fn plan(&self, requested_bytes: u64) -> Option<Wanted> {
        match self {
            Self::Neuron(rules) => {
                let (config, policy) = rules.as_ref();
                let request = policy.plan(requested_bytes).ok()?;
                let least_rest_bytes = match request.kind() {
                    PoolKind::Small => config.small_split_threshold_bytes(),
                    PoolKind::Large => config.large_split_threshold_bytes(),
                };
                Some(Wanted {
                    block_bytes: request.rounded_bytes(),
                    extent_bytes: request.extent_bytes(),
                    least_rest_bytes,
                    max_split_bytes: policy.max_split_bytes(),
                })
            }
            Self::PyTorch { max_split_bytes, is_expandable, divisions } => {
                let block_bytes = divisions.round(requested_bytes)?;
                let is_fine = *is_expandable || block_bytes <= MIB;
                Some(Wanted {
                    block_bytes,
                    extent_bytes: block_bytes,
                    least_rest_bytes: if is_fine { Divisions::UNIT_BYTES } else { MIB + 1 },
                    max_split_bytes: if is_fine { u64::MAX } else { *max_split_bytes },
                })
            }
        }
    }
}

impl Carver {
    pub(super) fn new(rules: Rules) -> Self {
        Self { rules, used: BTreeMap::new() }
    }

    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Takes a block; `known_bytes` where the file says its size, `segment` the range that holds it.
    /// Returns the bytes that count as allocated. O(log blocks).
    pub(super) fn take(
        &mut self,
        address: u64,
        requested_bytes: u64,
        known_bytes: Option<u64>,
        segment: Option<Held>,
    ) -> u64 {
        let bytes = known_bytes.unwrap_or_else(|| self.infer(address, requested_bytes, segment));
        // The next block begins where this one's extent ends; less than 64 bytes do not matter here.
        self.used.insert(address, address.saturating_add(bytes));
        bytes
    }

    /// Gives a block back.
    pub(super) fn give(&mut self, address: u64) {
        self.used.remove(&address);
    }

    fn infer(&self, address: u64, requested_bytes: u64, segment: Option<Held>) -> u64 {
        let Some(wanted) = self.rules.plan(requested_bytes) else { return requested_bytes };
        let Some(segment) = segment else { return wanted.block_bytes };
        let next = self.used.range(address.saturating_add(1)..).next().map(|(start, _)| *start);
        let free_bytes = next.map_or(segment.end, |next| next.min(segment.end)).saturating_sub(address);
        let Some(rest_bytes) = free_bytes.checked_sub(wanted.extent_bytes) else {
            return wanted.block_bytes;
        };
        // PyTorch looks at the request, this allocator at the free block.
        let is_kept_whole = match self.rules {
            Rules::Neuron(_) => !segment.is_fresh && free_bytes > wanted.max_split_bytes,
            Rules::PyTorch { .. } => wanted.block_bytes >= wanted.max_split_bytes,
        };
        if rest_bytes < wanted.least_rest_bytes || is_kept_whole { free_bytes } else { wanted.block_bytes }
    }
}
