//! The eleven keys: their names, their order and what can be asked of each.
//!
//! Knows no values of a running program. What a key means is in its specification.

use std::fmt;
use std::str::FromStr;

use super::nearest::nearest_key;
use super::quote::quote;
use super::specification::{DefaultRule, KeyKind, Specification, ValidRange};
use crate::ConfigError;

/// One key of the allocator configuration.
///
/// ```
/// use neuronx_mem_config::{ConfigKey, DefaultRule, KeyKind};
///
/// let key: ConfigKey = "kLargeSplitThreshold".parse()?;
/// assert_eq!(key.kind(), KeyKind::Bytes);
/// assert_eq!(key.default_rule(), DefaultRule::Follows(ConfigKey::PoolBoundary));
/// assert_eq!(key.to_string(), "kLargeSplitThreshold");
/// # Ok::<(), neuronx_mem_config::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfigKey {
    /// `kPoolBoundary`: requests below it are small, the others large.
    PoolBoundary,
    /// `kSmallSegmentSize`: the size of a segment of the small pool.
    SmallSegmentSize,
    /// `kMediumSegmentSize`: the size of a shared segment of the large pool.
    MediumSegmentSize,
    /// `kMediumThreshold`: from here on a request is unrounded and has its own segment.
    MediumThreshold,
    /// `kSegmentAlignment`: the multiple to which such a segment is rounded up.
    SegmentAlignment,
    /// `kMinRoundedSize`: the smallest rounded size.
    MinRoundedSize,
    /// `kRoundupPower2Divisions`: size classes between two powers of two.
    RoundupPower2Divisions,
    /// `kSmallSplitThreshold`: the smallest rest worth keeping in the small pool.
    SmallSplitThreshold,
    /// `kLargeSplitThreshold`: the smallest rest worth keeping in the large pool.
    LargeSplitThreshold,
    /// `kMaxSplitSizeBytes`: free blocks above it are never split.
    MaxSplitSizeBytes,
    /// `kMaxNonSplitRoundingBytes`: waste allowed when such a block is handed out whole.
    MaxNonSplitRoundingBytes,
}

impl ConfigKey {
    /// Every key, in the order of the environment variables reference.
    pub const ALL: [Self; 11] = [
        Self::PoolBoundary,
        Self::SmallSegmentSize,
        Self::MediumSegmentSize,
        Self::MediumThreshold,
        Self::SegmentAlignment,
        Self::MinRoundedSize,
        Self::RoundupPower2Divisions,
        Self::SmallSplitThreshold,
        Self::LargeSplitThreshold,
        Self::MaxSplitSizeBytes,
        Self::MaxNonSplitRoundingBytes,
    ];

    /// Returns the name as it is written in the environment variable, such as `kPoolBoundary`.
    pub fn name(self) -> &'static str {
        self.specification().name
    }

    /// Returns what the value counts.
    pub fn kind(self) -> KeyKind {
        self.specification().kind
    }

    /// Returns what the key does, as plain sentences for a reference page.
    pub fn documentation(self) -> &'static str {
        self.specification().documentation
    }

    /// Returns where the value comes from when nobody sets the key.
    pub fn default_rule(self) -> DefaultRule {
        self.specification().default_rule
    }

    /// Returns which values the key accepts.
    pub fn range(self) -> ValidRange {
        self.specification().range
    }

    /// Returns the key with exactly this name, capitals included. Cost: eleven comparisons.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// Checks a value, in the unit of the key.
    ///
    /// # Errors
    ///
    /// [`ConfigError::OutOfRange`] and [`ConfigError::NotPowerOfTwo`], by [`range`](Self::range).
    pub fn check(self, value: u64) -> Result<(), ConfigError> {
        let range = self.range();
        if range.contains(value) {
            return Ok(());
        }
        if range.power_of_two {
            return Err(ConfigError::NotPowerOfTwo { key: self, value });
        }
        Err(self.out_of_range(value))
    }

    pub(super) fn out_of_range(self, value: u64) -> ConfigError {
        let ValidRange { minimum, maximum, .. } = self.range();
        ConfigError::OutOfRange { key: self, value, minimum, maximum }
    }

    /// The place of the key in [`ALL`](Self::ALL); the declaration order is the same.
    pub(super) fn index(self) -> usize {
        self as usize
    }

    fn specification(self) -> &'static Specification {
        Specification::of(self)
    }
}

impl fmt::Display for ConfigKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ConfigKey {
    type Err = ConfigError;

    /// Reads an exact name; the error carries the most similar known key.
    fn from_str(name: &str) -> Result<Self, ConfigError> {
        Self::by_name(name)
            .ok_or_else(|| ConfigError::UnknownKey { text: quote(name), nearest: nearest_key(name) })
    }
}
