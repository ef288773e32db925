//! One remark about a configuration text, with its numbers in fields.
//!
//! Knows what can be said and how it reads in one line. Refuses to decide: a finding is a fact for
//! the caller, who may print, count or ignore it.

use std::fmt;
use std::ops::Range;

use super::combination::Combination;
use super::environment::ALLOCATOR_CONFIG_VARIABLE;
use super::key::ConfigKey;
use crate::ConfigError;
use crate::error::did_you_mean;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Nothing is wrong, though it may be worth knowing.
    Note,
    /// The text is in force, though perhaps not as it was meant.
    Warning,
    /// Something that the text asks for is not in force.
    Error,
}

impl Severity {
    /// Returns `note`, `warning` or `error`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    /// Prints the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One remark about a configuration.
///
/// `position` fields are byte ranges in the parsed text. `text` fields are quotations: control
/// characters escaped, cut after 64 characters with `…`. [`Display`](fmt::Display) is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// Nothing, or only white space, stands between two commas.
    EmptyItem {
        /// The white space, or the empty place.
        position: Range<usize>,
    },
    /// White space around a key or a value was trimmed.
    WhiteSpace {
        /// The key of the item, if it is a known one.
        key: Option<ConfigKey>,
        /// The item, untrimmed.
        text: String,
        /// The item, untrimmed.
        position: Range<usize>,
    },
    /// An item has no `=`; it is ignored.
    MissingEquals {
        /// The key, if the item is exactly the name of a known one.
        key: Option<ConfigKey>,
        /// The item.
        text: String,
        /// The item.
        position: Range<usize>,
    },
    /// An item has nothing before `=`; it is ignored.
    MissingKey {
        /// The item.
        text: String,
        /// The item.
        position: Range<usize>,
    },
    /// No key has this name; the item is ignored.
    UnknownKey {
        /// The name.
        text: String,
        /// The known key with the most similar name, when one is near enough.
        nearest: Option<ConfigKey>,
        /// The name.
        position: Range<usize>,
    },
    /// Nothing stands after `=`; the item is ignored.
    EmptyValue {
        /// The key of the item.
        key: ConfigKey,
        /// The item.
        position: Range<usize>,
    },
    /// The value contains a second `=`; the item is ignored.
    EqualsInValue {
        /// The key of the item.
        key: ConfigKey,
        /// The value.
        text: String,
        /// The value.
        position: Range<usize>,
    },
    /// The value is a size with a unit, such as `1MB`; the item is ignored.
    SizeSuffix {
        /// The key of the item.
        key: ConfigKey,
        /// The value.
        text: String,
        /// The bytes that were probably meant (`MB` and `MiB` both mean MiB), when they come out
        /// as a whole number that the key accepts.
        meant: Option<u64>,
        /// The value.
        position: Range<usize>,
    },
    /// The value is not made of decimal digits only; the item is ignored.
    NotDecimal {
        /// The key of the item.
        key: ConfigKey,
        /// The value.
        text: String,
        /// The number that was probably meant, when that is clear and the key accepts it.
        meant: Option<u64>,
        /// The value.
        position: Range<usize>,
    },
    /// The value does not fit into 64 bits; the item is ignored.
    Overflow {
        /// The key of the item.
        key: ConfigKey,
        /// The value.
        text: String,
        /// The value.
        position: Range<usize>,
    },
    /// The value lies outside the range of the key; the item is ignored.
    OutOfRange {
        /// The key of the item.
        key: ConfigKey,
        /// The value, in the unit of the key.
        value: u64,
        /// The smallest valid value.
        minimum: u64,
        /// The largest valid value.
        maximum: u64,
        /// The value.
        position: Range<usize>,
    },
    /// The key takes powers of two only; the item is ignored.
    NotPowerOfTwo {
        /// The key of the item.
        key: ConfigKey,
        /// The value, in the unit of the key.
        value: u64,
        /// The value.
        position: Range<usize>,
    },
    /// A key has two valid values; the later one is in force.
    Duplicate {
        /// The key.
        key: ConfigKey,
        /// The value that is no longer in force, in the unit of the key.
        replaced: u64,
        /// The value that replaced it.
        value: u64,
        /// The item that set `replaced`.
        replaced_position: Range<usize>,
        /// The item that set `value`.
        position: Range<usize>,
    },
    /// Two values hurt together; both stand.
    DangerousCombination {
        /// The rule, which names both keys.
        combination: Combination,
        /// The value on the wrong side.
        value: u64,
        /// What it is measured by: the other value, or a size computed from it.
        limit: u128,
    },
    /// The environment variable is not valid UTF-8; the bad bytes were read as U+FFFD.
    NotUnicode {
        /// The first replacement character, in the text after replacement.
        position: Range<usize>,
    },
    /// More was found than is listed; always the last finding.
    More {
        /// How many findings are not listed.
        count: usize,
        /// The worst severity among them.
        worst: Severity,
        /// The text from the first to the last of them.
        position: Range<usize>,
    },
}

impl Finding {
    /// Returns how much the finding matters.
    pub fn severity(&self) -> Severity {
        match self {
            Self::EmptyItem { .. }
            | Self::WhiteSpace { .. }
            | Self::Duplicate { .. }
            | Self::DangerousCombination { .. } => Severity::Warning,
            Self::More { worst, .. } => *worst,
            _ => Severity::Error,
        }
    }

    /// Returns the key that the finding is about; for a combination, the one on the wrong side.
    pub fn key(&self) -> Option<ConfigKey> {
        match self {
            Self::EmptyItem { .. }
            | Self::MissingKey { .. }
            | Self::UnknownKey { .. }
            | Self::NotUnicode { .. }
            | Self::More { .. } => None,
            Self::WhiteSpace { key, .. } | Self::MissingEquals { key, .. } => *key,
            Self::EmptyValue { key, .. }
            | Self::EqualsInValue { key, .. }
            | Self::SizeSuffix { key, .. }
            | Self::NotDecimal { key, .. }
            | Self::Overflow { key, .. }
            | Self::OutOfRange { key, .. }
            | Self::NotPowerOfTwo { key, .. }
            | Self::Duplicate { key, .. } => Some(*key),
            Self::DangerousCombination { combination, .. } => Some(combination.keys().0),
        }
    }

    /// Returns the place in the parsed text, as a byte range; none for a combination.
    ///
    /// ```
    /// use neuronx_mem_config::AllocatorConfig;
    ///
    /// let text = "kPoolBoundary=1MB,kMinRoundedSize=512";
    /// let findings = AllocatorConfig::parse(text).findings;
    /// assert_eq!(findings[0].position().and_then(|range| text.get(range)), Some("1MB"));
    /// ```
    pub fn position(&self) -> Option<Range<usize>> {
        match self {
            Self::DangerousCombination { .. } => None,
            Self::EmptyItem { position }
            | Self::WhiteSpace { position, .. }
            | Self::MissingEquals { position, .. }
            | Self::MissingKey { position, .. }
            | Self::UnknownKey { position, .. }
            | Self::EmptyValue { position, .. }
            | Self::EqualsInValue { position, .. }
            | Self::SizeSuffix { position, .. }
            | Self::NotDecimal { position, .. }
            | Self::Overflow { position, .. }
            | Self::OutOfRange { position, .. }
            | Self::NotPowerOfTwo { position, .. }
            | Self::Duplicate { position, .. }
            | Self::NotUnicode { position }
            | Self::More { position, .. } => Some(position.clone()),
        }
    }

    /// Returns the name of the variant for machine-readable output, such as `unknown_key`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::EmptyItem { .. } => "empty_item",
            Self::WhiteSpace { .. } => "white_space",
            Self::MissingEquals { .. } => "missing_equals",
            Self::MissingKey { .. } => "missing_key",
            Self::UnknownKey { .. } => "unknown_key",
            Self::EmptyValue { .. } => "empty_value",
            Self::EqualsInValue { .. } => "equals_in_value",
            Self::SizeSuffix { .. } => "size_suffix",
            Self::NotDecimal { .. } => "not_decimal",
            Self::Overflow { .. } => "overflow",
            Self::OutOfRange { .. } => "out_of_range",
            Self::NotPowerOfTwo { .. } => "not_power_of_two",
            Self::Duplicate { .. } => "duplicate",
            Self::DangerousCombination { .. } => "dangerous_combination",
            Self::NotUnicode { .. } => "not_unicode",
            Self::More { .. } => "more",
        }
    }

    /// The finding for a value or name that the typed interface refuses; none when the error is not
    /// about a key.
    pub(super) fn refused(error: ConfigError, position: Range<usize>) -> Option<Self> {
        match error {
            ConfigError::UnknownKey { text, nearest } => Some(Self::UnknownKey { text, nearest, position }),
            ConfigError::OutOfRange { key, value, minimum, maximum } => {
                Some(Self::OutOfRange { key, value, minimum, maximum, position })
            }
            ConfigError::NotPowerOfTwo { key, value } => Some(Self::NotPowerOfTwo { key, value, position }),
            ConfigError::CoreList { .. } | ConfigError::PathComponent { .. } => None,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyItem { position } => {
                write!(f, "the item at byte {} is empty", position.start)
            }
            Self::WhiteSpace { text, .. } => {
                write!(f, "`{text}`: white space around the key or the value is trimmed")
            }
            Self::MissingEquals { text, .. } => {
                write!(f, "`{text}` is ignored because it has no `=`; items are key=value")
            }
            Self::MissingKey { text, .. } => {
                write!(f, "`{text}` is ignored because it has no key before `=`")
            }
            Self::UnknownKey { text, nearest, .. } => {
                write!(f, "unknown key `{text}` is ignored{}", did_you_mean(*nearest))
            }
            Self::EmptyValue { key, .. } => {
                write!(f, "{key}: the item is ignored because it has no value")
            }
            Self::EqualsInValue { key, text, .. } => {
                write!(f, "{key}: `{text}` is ignored because it contains `=`; items are separated by commas")
            }
            Self::SizeSuffix { key, text, meant, .. } => {
                let hint = probably_meant(*meant);
                write!(f, "{key}: `{text}` is ignored because sizes are plain bytes without a suffix{hint}")
            }
            Self::NotDecimal { key, text, meant, .. } => {
                let hint = probably_meant(*meant);
                write!(f, "{key}: `{text}` is ignored because it is not a plain decimal number{hint}")
            }
            Self::Overflow { key, text, .. } => {
                write!(f, "{key}: `{text}` is ignored because it is above {}", u64::MAX)
            }
            Self::OutOfRange { key, value, minimum, maximum, .. } => {
                write!(f, "{key}: {value} is ignored because it is outside {minimum}..={maximum}")
            }
            Self::NotPowerOfTwo { key, value, .. } => {
                write!(f, "{key}: {value} is ignored because it is not a power of two")
            }
            Self::Duplicate { key, replaced, value, .. } => {
                write!(f, "{key} is given more than once: {replaced} is replaced by {value}")
            }
            Self::DangerousCombination { combination, value, limit } => {
                combination.describe(f, *value, *limit)
            }
            Self::NotUnicode { .. } => {
                write!(f, "{ALLOCATOR_CONFIG_VARIABLE} is not valid UTF-8; its bad bytes are read as U+FFFD")
            }
            Self::More { count, .. } => write!(f, "and {count} more"),
        }
    }
}

fn probably_meant(meant: Option<u64>) -> String {
    meant.map_or_else(String::new, |number| format!("; {number} was probably meant"))
}
