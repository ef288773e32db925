//! Values that are valid one by one and hurt together.
//!
//! Knows the dangerous combinations of allocator semantics §4. Refuses to correct them: every
//! request stays satisfiable, so the values stand.

use std::fmt;

use super::config::AllocatorConfig;
use super::finding::Finding;
use super::key::ConfigKey;
use super::round::round_size;

/// One rule about two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Combination {
    /// `kMaxSplitSizeBytes < kMediumSegmentSize`.
    MaxSplitBelowMediumSegment,
    /// `kSmallSegmentSize < round(kPoolBoundary - 1)`, the largest request of the small pool, rounded.
    SmallSegmentBelowSmallRequest,
    /// `kMediumSegmentSize < kMediumThreshold`.
    MediumSegmentBelowMediumThreshold,
    /// `kMediumThreshold < kPoolBoundary`.
    MediumThresholdBelowPoolBoundary,
    /// `kSmallSplitThreshold > kSmallSegmentSize`.
    SmallSplitAboveSmallSegment,
    /// `kLargeSplitThreshold > kMediumSegmentSize`.
    LargeSplitAboveMediumSegment,
}

/// Returns a finding for each dangerous combination, in the order of [`Combination`].
///
/// The findings have no position, because a configuration need not come from a text. Cost: O(1).
///
/// ```
/// use neuronx_mem_config::{AllocatorConfig, ConfigKey, combinations};
///
/// let config = AllocatorConfig::default();
/// assert!(combinations(&config).is_empty());
///
/// let config = config.with(ConfigKey::MaxSplitSizeBytes, 1 << 20)?;
/// assert_eq!(combinations(&config)[0].key(), Some(ConfigKey::MaxSplitSizeBytes));
/// # Ok::<(), neuronx_mem_config::ConfigError>(())
/// ```
pub fn combinations(config: &AllocatorConfig) -> Vec<Finding> {
    Combination::ALL.into_iter().filter_map(|rule| rule.violation(config)).collect()
}

impl Combination {
    const ALL: [Self; 6] = [
        Self::MaxSplitBelowMediumSegment,
        Self::SmallSegmentBelowSmallRequest,
        Self::MediumSegmentBelowMediumThreshold,
        Self::MediumThresholdBelowPoolBoundary,
        Self::SmallSplitAboveSmallSegment,
        Self::LargeSplitAboveMediumSegment,
    ];

    /// Returns the two keys: the one that is on the wrong side, and the one it is measured by.
    pub fn keys(self) -> (ConfigKey, ConfigKey) {
        match self {
            Self::MaxSplitBelowMediumSegment => (ConfigKey::MaxSplitSizeBytes, ConfigKey::MediumSegmentSize),
            Self::SmallSegmentBelowSmallRequest => (ConfigKey::SmallSegmentSize, ConfigKey::PoolBoundary),
            Self::MediumSegmentBelowMediumThreshold => {
                (ConfigKey::MediumSegmentSize, ConfigKey::MediumThreshold)
            }
            Self::MediumThresholdBelowPoolBoundary => (ConfigKey::MediumThreshold, ConfigKey::PoolBoundary),
            Self::SmallSplitAboveSmallSegment => {
                (ConfigKey::SmallSplitThreshold, ConfigKey::SmallSegmentSize)
            }
            Self::LargeSplitAboveMediumSegment => {
                (ConfigKey::LargeSplitThreshold, ConfigKey::MediumSegmentSize)
            }
        }
    }

    /// Returns what happens with such values, as the tail of a message.
    pub fn consequence(self) -> &'static str {
        match self {
            Self::MaxSplitBelowMediumSegment => {
                "free blocks of a medium segment above it serve only requests of almost their size"
            }
            Self::SmallSegmentBelowSmallRequest => "some small requests get a segment of their own size",
            Self::MediumSegmentBelowMediumThreshold => {
                "some requests below the threshold get a segment of their own size"
            }
            Self::MediumThresholdBelowPoolBoundary => {
                "no request uses a medium segment, and some small requests are not rounded"
            }
            Self::SmallSplitAboveSmallSegment => "blocks of a small segment are never split",
            Self::LargeSplitAboveMediumSegment => "blocks of a medium segment are never split",
        }
    }

    /// Writes the message of a finding: both keys, both numbers and the consequence.
    pub(super) fn describe(self, f: &mut fmt::Formatter<'_>, value: u64, limit: u128) -> fmt::Result {
        let (key, other) = self.keys();
        let (relation, measure) = match self {
            Self::SmallSegmentBelowSmallRequest => ("below", "the largest rounded request under "),
            Self::SmallSplitAboveSmallSegment | Self::LargeSplitAboveMediumSegment => ("above", ""),
            _ => ("below", ""),
        };
        let consequence = self.consequence();
        write!(f, "{key} ({value}) is {relation} {measure}{other} ({limit}): {consequence}")
    }

    fn violation(self, config: &AllocatorConfig) -> Option<Finding> {
        let (key, other) = self.keys();
        let value = config.get(key);
        let limit = match self {
            Self::SmallSegmentBelowSmallRequest => largest_small_request(config)?,
            _ => u128::from(config.get(other)),
        };
        let violated = match self {
            Self::SmallSplitAboveSmallSegment | Self::LargeSplitAboveMediumSegment => {
                u128::from(value) > limit
            }
            _ => u128::from(value) < limit,
        };
        violated.then_some(Finding::DangerousCombination { combination: self, value, limit })
    }
}

/// The largest request of the small pool, rounded; none when the pool has no requests at all, as a
/// request of zero bytes makes no block.
fn largest_small_request(config: &AllocatorConfig) -> Option<u128> {
    let largest = config.pool_boundary_bytes().checked_sub(1).filter(|&bytes| bytes > 0)?;
    Some(round_size(largest, config))
}
