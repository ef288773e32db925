//! How much is logged.
//!
//! Knows the four levels and what `tracing` calls them. Refuses to install a subscriber.

use super::collect::Collector;
use crate::{EnvFinding, Environment, variables};

/// The log level (environment variables reference, "General"); a larger one logs more.
///
/// ```
/// use neuronx_mem_config::{Environment, LogLevel};
///
/// let environment = Environment::from_pairs([("TORCH_NEURONX_LOG_LEVEL", "3")]);
/// let (level, _) = LogLevel::from_environment(&environment);
/// assert_eq!((level, level.filter()), (LogLevel::Debug, "debug"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Errors only: 0.
    Error,
    /// Warnings too: 1, the default.
    #[default]
    Warning,
    /// Information too: 2.
    Info,
    /// Everything: 3.
    Debug,
}

impl LogLevel {
    /// Reads the level, beside what is wrong with it.
    pub fn from_environment(environment: &Environment) -> (Self, Vec<EnvFinding>) {
        let mut collector = Collector::new(environment);
        let number = collector.int(variables::TORCH_NEURONX_LOG_LEVEL);
        (Self::of_number(number).unwrap_or_default(), collector.finish())
    }

    /// Returns the level of a number in `0..=3`.
    pub const fn of_number(number: u64) -> Option<Self> {
        match number {
            0 => Some(Self::Error),
            1 => Some(Self::Warning),
            2 => Some(Self::Info),
            3 => Some(Self::Debug),
            _ => None,
        }
    }

    /// Returns the filter text that `tracing` subscribers read: `error`, `warn`, `info` or `debug`.
    pub const fn filter(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }
}
