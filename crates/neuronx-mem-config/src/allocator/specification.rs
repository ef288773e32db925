//! What each key means: kind, default, range and documentation, as one table.
//!
//! Knows the key table of the environment variables reference. Refuses to interpret values.

use super::defaults;
use super::key::ConfigKey;

/// What the value of a key counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// A number of bytes.
    Bytes,
    /// A plain integer.
    Integer,
}

/// Where the value of a key comes from when nobody sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefaultRule {
    /// A fixed number, in the unit of the key.
    Plain(u64),
    /// The effective value of another key, whoever set that one.
    Follows(ConfigKey),
}

/// Which values a key accepts, in its own unit.
///
/// The bounds are wide on purpose: no combination of accepted values makes a request
/// unsatisfiable (allocator semantics §4), and doubtful ones are findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ValidRange {
    /// The smallest valid value.
    pub minimum: u64,
    /// The largest valid value, inclusive.
    pub maximum: u64,
    /// Whether only powers of two within the bounds are valid.
    pub power_of_two: bool,
}

impl ValidRange {
    const ANY: Self = Self { minimum: 0, maximum: u64::MAX, power_of_two: false };
    const DIVISIONS: Self = Self { minimum: 1, maximum: 64, power_of_two: false };
    const ALIGNMENT: Self = Self { minimum: 1, maximum: 1 << 63, power_of_two: true };

    /// Says whether a value is valid.
    ///
    /// ```
    /// use neuronx_mem_config::ConfigKey;
    ///
    /// assert!(ConfigKey::RoundupPower2Divisions.range().contains(64));
    /// assert!(!ConfigKey::SegmentAlignment.range().contains(3_000_000));
    /// ```
    pub fn contains(self, value: u64) -> bool {
        let within = (self.minimum..=self.maximum).contains(&value);
        within && (!self.power_of_two || value.is_power_of_two())
    }
}

/// One row of the key table.
#[derive(Debug)]
pub(super) struct Specification {
    pub(super) name: &'static str,
    pub(super) kind: KeyKind,
    pub(super) default_rule: DefaultRule,
    pub(super) range: ValidRange,
    pub(super) documentation: &'static str,
}

impl Specification {
    pub(super) fn of(key: ConfigKey) -> &'static Self {
        match key {
            ConfigKey::PoolBoundary => &POOL_BOUNDARY,
            ConfigKey::SmallSegmentSize => &SMALL_SEGMENT_SIZE,
            ConfigKey::MediumSegmentSize => &MEDIUM_SEGMENT_SIZE,
            ConfigKey::MediumThreshold => &MEDIUM_THRESHOLD,
            ConfigKey::SegmentAlignment => &SEGMENT_ALIGNMENT,
            ConfigKey::MinRoundedSize => &MIN_ROUNDED_SIZE,
            ConfigKey::RoundupPower2Divisions => &ROUNDUP_POWER2_DIVISIONS,
            ConfigKey::SmallSplitThreshold => &SMALL_SPLIT_THRESHOLD,
            ConfigKey::LargeSplitThreshold => &LARGE_SPLIT_THRESHOLD,
            ConfigKey::MaxSplitSizeBytes => &MAX_SPLIT_SIZE,
            ConfigKey::MaxNonSplitRoundingBytes => &MAX_NON_SPLIT_ROUNDING,
        }
    }

    const fn bytes(name: &'static str, default_rule: DefaultRule, documentation: &'static str) -> Self {
        Self { name, kind: KeyKind::Bytes, default_rule, range: ValidRange::ANY, documentation }
    }
}

static POOL_BOUNDARY: Specification = Specification::bytes(
    "kPoolBoundary",
    DefaultRule::Plain(defaults::POOL_BOUNDARY_BYTES),
    "Divides the two pools: a request below it is served by the small pool, any other by the large pool. \
     The pools share neither segments nor free blocks.",
);

static SMALL_SEGMENT_SIZE: Specification = Specification::bytes(
    "kSmallSegmentSize",
    DefaultRule::Plain(defaults::SMALL_SEGMENT_BYTES),
    "How much the small pool takes from the runtime when it needs a new segment.",
);

static MEDIUM_SEGMENT_SIZE: Specification = Specification::bytes(
    "kMediumSegmentSize",
    DefaultRule::Plain(defaults::MEDIUM_SEGMENT_BYTES),
    "How much the large pool takes from the runtime when a request below kMediumThreshold needs a new \
     segment.",
);

static MEDIUM_THRESHOLD: Specification = Specification::bytes(
    "kMediumThreshold",
    DefaultRule::Plain(defaults::MEDIUM_THRESHOLD_BYTES),
    "From this size on a request is not rounded to a size class, and a new segment is made for it alone.",
);

static SEGMENT_ALIGNMENT: Specification = Specification {
    range: ValidRange::ALIGNMENT,
    ..Specification::bytes(
        "kSegmentAlignment",
        DefaultRule::Plain(defaults::SEGMENT_ALIGNMENT_BYTES),
        "A segment made for one request is rounded up to a multiple of this. Must be a power of two.",
    )
};

static MIN_ROUNDED_SIZE: Specification = Specification::bytes(
    "kMinRoundedSize",
    DefaultRule::Plain(defaults::MIN_ROUNDED_BYTES),
    "The smallest block size: requests below it are rounded up to it.",
);

static ROUNDUP_POWER2_DIVISIONS: Specification = Specification {
    name: "kRoundupPower2Divisions",
    kind: KeyKind::Integer,
    // Widening only; `From` is not usable in a static.
    default_rule: DefaultRule::Plain(defaults::ROUNDUP_POWER2_DIVISIONS as u64),
    range: ValidRange::DIVISIONS,
    documentation: "How many equal steps lie between two powers of two when a request is rounded up to \
                    a size class. \
                    1 rounds to powers of two; more steps waste less and reuse cached blocks less often.",
};

static SMALL_SPLIT_THRESHOLD: Specification = Specification::bytes(
    "kSmallSplitThreshold",
    DefaultRule::Follows(ConfigKey::MinRoundedSize),
    "The smallest rest for which a block of the small pool is split; a block with a smaller rest is \
     handed out whole.",
);

static LARGE_SPLIT_THRESHOLD: Specification = Specification::bytes(
    "kLargeSplitThreshold",
    DefaultRule::Follows(ConfigKey::PoolBoundary),
    "The smallest rest for which a block of the large pool is split; a block with a smaller rest is \
     handed out whole.",
);

static MAX_SPLIT_SIZE: Specification = Specification::bytes(
    "kMaxSplitSizeBytes",
    DefaultRule::Plain(defaults::MAX_SPLIT_BYTES),
    "Free blocks larger than this are never split, which keeps them whole for large requests. \
     By default every block may be split.",
);

static MAX_NON_SPLIT_ROUNDING: Specification = Specification::bytes(
    "kMaxNonSplitRoundingBytes",
    DefaultRule::Plain(defaults::MAX_NON_SPLIT_ROUNDING_BYTES),
    "How much larger than the need a block above kMaxSplitSizeBytes may be and still serve the request, \
     whole.",
);
