//! Where an effective value came from.
//!
//! Knows the origin only, never the value.

use std::fmt;

use super::key::ConfigKey;

/// The origin of one effective value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// Nobody set the key; its own default stands.
    Default,
    /// Nobody set the key; it has the value of this other key.
    Follows(ConfigKey),
    /// Set by the environment variable.
    Environment,
    /// Set by the program, or by a string on its command line.
    Code,
}

impl fmt::Display for Source {
    /// Prints `default`, `follows kPoolBoundary`, `environment` or `code`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.pad("default"),
            Self::Follows(key) => f.pad(&format!("follows {key}")),
            Self::Environment => f.pad("environment"),
            Self::Code => f.pad("code"),
        }
    }
}
