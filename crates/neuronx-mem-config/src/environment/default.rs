//! What holds while a variable is not set.
//!
//! Knows fixed defaults and the facts on which the others depend. The facts themselves come from
//! the [`Environment`](super::Environment).

use std::fmt;

/// The default of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DefaultValue {
    /// This text, as if it had been set.
    Plain(&'static str),
    /// It depends on a fact outside the registry.
    Depends {
        /// The fact.
        on: Dependence,
        /// The text that is taken while the fact is not known; empty when nothing can be said.
        assumed: &'static str,
        /// The rule in words.
        rule: &'static str,
    },
    /// The pages name none.
    NotStated,
}

/// A fact that decides a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dependence {
    /// The version of PyTorch; see
    /// [`Environment::with_pytorch_version`](super::Environment::with_pytorch_version).
    PytorchVersion,
    /// The stream on which a collective runs; the default stream is assumed.
    Stream,
    /// The user's name, from `LOGNAME` or `USER`.
    UserName,
    /// The number of the user, which this crate cannot ask for.
    UserId,
    /// The instance on which the process runs, which this crate does not ask.
    LiveInstance,
    /// The architecture: 1 before trn2, and 2 since.
    Architecture,
}

impl fmt::Display for DefaultValue {
    /// Prints the text, the rule, `""` for an empty text, or `not stated`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain("") => f.pad("\"\""),
            Self::Plain(text) => f.pad(text),
            Self::Depends { rule, .. } => f.pad(rule),
            Self::NotStated => f.pad("not stated"),
        }
    }
}

impl fmt::Display for Dependence {
    /// Prints `the PyTorch version` and the like.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::PytorchVersion => "the PyTorch version",
            Self::Stream => "the stream",
            Self::UserName => "the user name",
            Self::UserId => "the user id",
            Self::LiveInstance => "the live instance",
            Self::Architecture => "the architecture",
        })
    }
}
