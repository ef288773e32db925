//! The effective configuration: eleven validated values and where each came from.
//!
//! Knows how defaults follow other keys. Refuses a value outside the range of its key, so a
//! configuration in hand is always valid. Reading and printing text are elsewhere.

use std::hash::{Hash, Hasher};

use super::defaults;
use super::hash::fnv1a_64;
use super::key::ConfigKey;
use super::source::Source;
use super::specification::DefaultRule;
use crate::ConfigError;

/// The values with which an allocator runs, each valid for its key.
///
/// Two configurations are equal, and hash alike, when their effective values are equal; where the
/// values came from does not count. Consequently equal configurations can differ in what a later
/// [`with`](Self::with) does to a key that follows another.
///
/// ```
/// use neuronx_mem_config::{AllocatorConfig, ConfigKey, Source};
///
/// let config = AllocatorConfig::default().with(ConfigKey::MinRoundedSize, 512)?;
/// assert_eq!(config.small_split_threshold_bytes(), 512);
/// assert_eq!(config.source(ConfigKey::MinRoundedSize), Source::Code);
/// assert_eq!(
///     config.source(ConfigKey::SmallSplitThreshold),
///     Source::Follows(ConfigKey::MinRoundedSize),
/// );
/// assert_eq!(config.to_env_string(), "kMinRoundedSize=512");
/// # Ok::<(), neuronx_mem_config::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AllocatorConfig {
    pool_boundary_bytes: u64,
    small_segment_bytes: u64,
    medium_segment_bytes: u64,
    medium_threshold_bytes: u64,
    segment_alignment_bytes: u64,
    min_rounded_bytes: u64,
    roundup_power2_divisions: u32,
    /// Kept up to date by `assign` while its source is `Follows`, so that reads are plain loads.
    small_split_threshold_bytes: u64,
    /// As above.
    large_split_threshold_bytes: u64,
    max_split_bytes: u64,
    max_non_split_rounding_bytes: u64,
    /// By `ConfigKey::index`.
    sources: [Source; ConfigKey::ALL.len()],
}

impl AllocatorConfig {
    /// Returns the request size, in bytes, from which on the large pool serves.
    pub const fn pool_boundary_bytes(&self) -> u64 {
        self.pool_boundary_bytes
    }

    /// Returns the size of a new small-pool segment, in bytes.
    pub const fn small_segment_bytes(&self) -> u64 {
        self.small_segment_bytes
    }

    /// Returns the size of a new shared large-pool segment, in bytes.
    pub const fn medium_segment_bytes(&self) -> u64 {
        self.medium_segment_bytes
    }

    /// Returns the request size, in bytes, from which on requests are unrounded and have their own segment.
    pub const fn medium_threshold_bytes(&self) -> u64 {
        self.medium_threshold_bytes
    }

    /// Returns the multiple, in bytes and a power of two, to which segments of one request are rounded up.
    pub const fn segment_alignment_bytes(&self) -> u64 {
        self.segment_alignment_bytes
    }

    /// Returns the smallest rounded size, in bytes.
    pub const fn min_rounded_bytes(&self) -> u64 {
        self.min_rounded_bytes
    }

    /// Returns the number of size classes between two powers of two, in `1..=64`.
    pub const fn roundup_power2_divisions(&self) -> u32 {
        self.roundup_power2_divisions
    }

    /// Returns the smallest rest, in bytes, for which a small-pool block is split.
    pub const fn small_split_threshold_bytes(&self) -> u64 {
        self.small_split_threshold_bytes
    }

    /// Returns the smallest rest, in bytes, for which a large-pool block is split.
    pub const fn large_split_threshold_bytes(&self) -> u64 {
        self.large_split_threshold_bytes
    }

    /// Returns the size, in bytes, above which a free block is never split; `u64::MAX` is no limit.
    pub const fn max_split_bytes(&self) -> u64 {
        self.max_split_bytes
    }

    /// Returns the waste, in bytes and inclusive, allowed when an unsplittable block is handed out whole.
    pub const fn max_non_split_rounding_bytes(&self) -> u64 {
        self.max_non_split_rounding_bytes
    }

    /// Returns the effective value of a key, in its unit. Cost: O(1).
    pub fn get(&self, key: ConfigKey) -> u64 {
        match key {
            ConfigKey::PoolBoundary => self.pool_boundary_bytes,
            ConfigKey::SmallSegmentSize => self.small_segment_bytes,
            ConfigKey::MediumSegmentSize => self.medium_segment_bytes,
            ConfigKey::MediumThreshold => self.medium_threshold_bytes,
            ConfigKey::SegmentAlignment => self.segment_alignment_bytes,
            ConfigKey::MinRoundedSize => self.min_rounded_bytes,
            ConfigKey::RoundupPower2Divisions => u64::from(self.roundup_power2_divisions),
            ConfigKey::SmallSplitThreshold => self.small_split_threshold_bytes,
            ConfigKey::LargeSplitThreshold => self.large_split_threshold_bytes,
            ConfigKey::MaxSplitSizeBytes => self.max_split_bytes,
            ConfigKey::MaxNonSplitRoundingBytes => self.max_non_split_rounding_bytes,
        }
    }

    /// Returns every key with its effective value, in the order of [`ConfigKey::ALL`].
    pub fn entries(&self) -> impl Iterator<Item = (ConfigKey, u64)> + '_ {
        ConfigKey::ALL.into_iter().map(|key| (key, self.get(key)))
    }

    /// Returns where the effective value of a key came from. Cost: O(1).
    pub fn source(&self, key: ConfigKey) -> Source {
        self.sources[key.index()]
    }

    /// Returns this configuration with one key set by code, in the unit of the key.
    ///
    /// Keys that follow it move along unless they were set themselves.
    ///
    /// # Errors
    ///
    /// [`ConfigError::OutOfRange`] and [`ConfigError::NotPowerOfTwo`], as [`ConfigKey::check`] says.
    pub fn with(self, key: ConfigKey, value: u64) -> Result<Self, ConfigError> {
        self.with_source(key, value, Source::Code)
    }

    /// Returns a 64-bit hash of the effective values for artefacts: snapshots, traces, reports.
    ///
    /// It is FNV-1a over the eleven values in the order of [`ConfigKey::ALL`], each as eight
    /// little-endian bytes. It is the same on every platform and in every release with these eleven
    /// keys, and does not depend on where the values came from. It is no protection against intent.
    ///
    /// ```
    /// use neuronx_mem_config::AllocatorConfig;
    ///
    /// let spelled_out = AllocatorConfig::parse("kPoolBoundary=1048576").config;
    /// assert_eq!(spelled_out.hash64(), AllocatorConfig::default().hash64());
    /// ```
    pub fn hash64(&self) -> u64 {
        fnv1a_64(self.entries().map(|(_, value)| value))
    }

    /// Sets a key after checking the value; `source` must not be `Default` or `Follows`.
    pub(super) fn with_source(
        mut self,
        key: ConfigKey,
        value: u64,
        source: Source,
    ) -> Result<Self, ConfigError> {
        key.check(value)?;
        self.assign(key, value)?;
        self.sources[key.index()] = source;
        self.refresh_followers()?;
        Ok(self)
    }

    fn assign(&mut self, key: ConfigKey, value: u64) -> Result<(), ConfigError> {
        match key {
            ConfigKey::PoolBoundary => self.pool_boundary_bytes = value,
            ConfigKey::SmallSegmentSize => self.small_segment_bytes = value,
            ConfigKey::MediumSegmentSize => self.medium_segment_bytes = value,
            ConfigKey::MediumThreshold => self.medium_threshold_bytes = value,
            ConfigKey::SegmentAlignment => self.segment_alignment_bytes = value,
            ConfigKey::MinRoundedSize => self.min_rounded_bytes = value,
            ConfigKey::RoundupPower2Divisions => {
                self.roundup_power2_divisions = u32::try_from(value).map_err(|_| key.out_of_range(value))?;
            }
            ConfigKey::SmallSplitThreshold => self.small_split_threshold_bytes = value,
            ConfigKey::LargeSplitThreshold => self.large_split_threshold_bytes = value,
            ConfigKey::MaxSplitSizeBytes => self.max_split_bytes = value,
            ConfigKey::MaxNonSplitRoundingBytes => self.max_non_split_rounding_bytes = value,
        }
        Ok(())
    }

    fn refresh_followers(&mut self) -> Result<(), ConfigError> {
        for key in ConfigKey::ALL {
            if let Source::Follows(leader) = self.source(key) {
                self.assign(key, self.get(leader))?;
            }
        }
        Ok(())
    }
}

impl Default for AllocatorConfig {
    /// Returns the defaults of the environment variables reference.
    fn default() -> Self {
        Self {
            pool_boundary_bytes: defaults::POOL_BOUNDARY_BYTES,
            small_segment_bytes: defaults::SMALL_SEGMENT_BYTES,
            medium_segment_bytes: defaults::MEDIUM_SEGMENT_BYTES,
            medium_threshold_bytes: defaults::MEDIUM_THRESHOLD_BYTES,
            segment_alignment_bytes: defaults::SEGMENT_ALIGNMENT_BYTES,
            min_rounded_bytes: defaults::MIN_ROUNDED_BYTES,
            roundup_power2_divisions: defaults::ROUNDUP_POWER2_DIVISIONS,
            small_split_threshold_bytes: defaults::MIN_ROUNDED_BYTES,
            large_split_threshold_bytes: defaults::POOL_BOUNDARY_BYTES,
            max_split_bytes: defaults::MAX_SPLIT_BYTES,
            max_non_split_rounding_bytes: defaults::MAX_NON_SPLIT_ROUNDING_BYTES,
            sources: ConfigKey::ALL.map(|key| match key.default_rule() {
                DefaultRule::Plain(_) => Source::Default,
                DefaultRule::Follows(leader) => Source::Follows(leader),
            }),
        }
    }
}

impl PartialEq for AllocatorConfig {
    fn eq(&self, other: &Self) -> bool {
        self.entries().eq(other.entries())
    }
}

impl Eq for AllocatorConfig {}

impl Hash for AllocatorConfig {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for (_, value) in self.entries() {
            state.write_u64(value);
        }
    }
}
