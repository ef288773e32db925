//! A value and where it came from.
//!
//! Knows the origin of a value. Refuses to hide a bad text: what was wrong stays with the reading.

use std::fmt;

use super::default::Dependence;
use super::finding::EnvFinding;

/// The effective value of one variable in one environment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading<T> {
    /// What holds, always usable.
    pub value: T,
    /// Where it came from.
    pub origin: Origin,
    /// What is wrong with the text; empty for a default.
    pub findings: Vec<EnvFinding>,
}

/// Where an effective value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// Not set: the default.
    Default,
    /// Not set: the default, which this fact decides.
    Depends(Dependence),
    /// Not set, and the pages name no default.
    Unset,
    /// Set, though perhaps without items that could not be read.
    Set,
    /// Set to a text that cannot be used: the default holds.
    Invalid,
}

impl<T> Reading<T> {
    /// Turns the value into another; origin and findings stay.
    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> Reading<U> {
        Reading { value: change(self.value), origin: self.origin, findings: self.findings }
    }
}

impl fmt::Display for Origin {
    /// Prints `default`, `default for the stream`, `unset`, `set` or `invalid`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.pad("default"),
            Self::Depends(fact) => f.pad(&format!("default for {fact}")),
            Self::Unset => f.pad("unset"),
            Self::Set => f.pad("set"),
            Self::Invalid => f.pad("invalid"),
        }
    }
}
