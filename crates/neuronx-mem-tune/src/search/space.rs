//! Which configurations may be proposed at all. Refuses every dangerous combination of allocator
//! semantics §4, segments above the limit, and values that only look good on a simulated device.

use neuronx_mem::AllocatorConfig;
use neuronx_mem::config::{ConfigKey, combinations};

/// A runtime hands out memory in pages: a finer alignment would hide waste, not avoid it.
const MIN_ALIGNMENT_BYTES: u64 = 64 << 10;

/// Blocks below the default would save nothing that can be seen, and may not suit a DMA engine.
const MIN_ROUNDED_BYTES: u64 = 256;

/// A segment of the small pool below this costs a runtime call for a handful of tensors.
const MIN_SMALL_SEGMENT_BYTES: u64 = 4 << 10;

/// Sizes of shared segments come in multiples of this.
pub(crate) const QUANTUM_BYTES: u64 = 2 << 20;

/// The values of all keys, in the order of [`ConfigKey::ALL`].
pub(crate) type Values = [u64; ConfigKey::ALL.len()];

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    pub(crate) max_segment_bytes: u64,
}

impl Space {
    /// Whether a configuration may be proposed.
    pub(crate) fn admits(&self, config: &AllocatorConfig) -> bool {
        let largest = config.medium_segment_bytes().max(config.small_segment_bytes());
        largest <= self.max_segment_bytes.max(AllocatorConfig::default().medium_segment_bytes())
            && config.small_segment_bytes() >= MIN_SMALL_SEGMENT_BYTES
            && config.segment_alignment_bytes() >= MIN_ALIGNMENT_BYTES
            && config.segment_alignment_bytes() <= self.max_segment_bytes
            && config.min_rounded_bytes() >= MIN_ROUNDED_BYTES
            && combinations(config).is_empty()
    }

    /// The defaults with some keys changed, if that may be proposed.
    pub(crate) fn changed(&self, changes: &[(ConfigKey, u64)]) -> Option<AllocatorConfig> {
        let mut config = AllocatorConfig::default();
        for (key, value) in changes {
            config = config.with(*key, *value).ok()?;
        }
        self.admits(&config).then_some(config)
    }

    /// The configuration with exactly these values, if it may be proposed.
    pub(crate) fn config(&self, values: &Values) -> Option<AllocatorConfig> {
        let mut config = AllocatorConfig::default();
        for (key, value) in ConfigKey::ALL.into_iter().zip(values) {
            config = config.with(key, *value).ok()?;
        }
        self.admits(&config).then_some(config)
    }
}

/// The effective values of a configuration.
pub(crate) fn values_of(config: &AllocatorConfig) -> Values {
    ConfigKey::ALL.map(|key| config.get(key))
}

/// How many keys a configuration needs to be written down.
pub(crate) fn n_changed(config: &AllocatorConfig) -> usize {
    let text = config.to_env_string();
    text.split(',').filter(|item| !item.is_empty()).count()
}

/// Rounds up to a multiple of [`QUANTUM_BYTES`].
pub(crate) fn whole(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(QUANTUM_BYTES).unwrap_or(bytes)
}

/// So many thousandths of a number of bytes.
pub(crate) fn thousandths(bytes: u64, factor: u64) -> u64 {
    u64::try_from(u128::from(bytes) * u128::from(factor) / 1000).unwrap_or(u64::MAX)
}
