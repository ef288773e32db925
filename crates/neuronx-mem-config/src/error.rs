//! The errors of this crate: what a caller in code can get wrong.
//!
//! Texts from outside never produce one of these; they produce a [`Finding`](crate::Finding).

use crate::{ConfigKey, ValueProblem};

/// A key or a value that a caller in code gave and that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No key has this name; names are compared exactly.
    #[error("unknown key `{text}`{}", did_you_mean(*.nearest))]
    UnknownKey {
        /// The name as quoted in messages: escaped, at most 64 characters before an ellipsis.
        text: String,
        /// The known key with the most similar name, when one is near enough.
        nearest: Option<ConfigKey>,
    },
    /// The value lies outside the range of its key.
    #[error("{key}: {value} is outside {minimum}..={maximum}")]
    OutOfRange {
        /// The key that was to be set.
        key: ConfigKey,
        /// The value that was refused, in the unit of the key.
        value: u64,
        /// The smallest valid value.
        minimum: u64,
        /// The largest valid value.
        maximum: u64,
    },
    /// The key takes powers of two only.
    #[error("{key}: {value} is not a power of two")]
    NotPowerOfTwo {
        /// The key that was to be set.
        key: ConfigKey,
        /// The value that was refused, in the unit of the key.
        value: u64,
    },
    /// An item of a list of NeuronCores is no index and no range.
    #[error("core list: `{text}` {problem}")]
    CoreList {
        /// The item, as quoted in messages.
        text: String,
        /// What is wrong with it.
        problem: ValueProblem,
    },
    /// A name from outside cannot be one component of a path.
    #[error("`{text}` cannot be part of a file name")]
    PathComponent {
        /// The name, as quoted in messages.
        text: String,
    },
}

/// The tail of a message about an unknown key; empty when nothing is near.
pub(crate) fn did_you_mean(nearest: Option<ConfigKey>) -> String {
    nearest.map_or_else(String::new, |key| format!("; did you mean `{key}`?"))
}
