//! How operations on 64-bit integers run.
//!
//! Knows the five modes by name. What each does with an operation is for the crate
//! `neuronx-mem-int64`, which takes the values read here.

use std::fmt;

use super::collect::Collector;
use crate::{EnvFinding, Environment, variables};

/// The mode and the overflow check (guidelines for memory management, "Understand 64-bit dtype memory
/// behavior").
///
/// ```
/// use neuronx_mem_config::{Environment, Int64Mode, Int64Settings};
///
/// let environment = Environment::from_pairs([("TORCH_NEURONX_INT64_MODE", "packed")]);
/// let (int64, _) = Int64Settings::from_environment(&environment);
/// assert_eq!(int64.mode, Int64Mode::Packed);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Int64Settings {
    /// How operations run.
    pub mode: Int64Mode,
    /// Whether packed operations refuse values outside the range of `int32`.
    pub check_overflow: bool,
}

/// How operations on `int64` run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Int64Mode {
    /// On the device where supported, else packed; matrix products on the CPU.
    #[default]
    Native,
    /// As two 32-bit words, of which arithmetic uses the low one.
    Packed,
    /// On the device where supported, else on the CPU.
    NativeStrict,
    /// Cast to `int32` by way of the CPU, then on the device.
    CpuBounce,
    /// On the CPU.
    CpuFallback,
}

impl Int64Settings {
    /// Reads the settings, beside what is wrong with them.
    pub fn from_environment(environment: &Environment) -> (Self, Vec<EnvFinding>) {
        let mut collector = Collector::new(environment);
        let mode = collector.text(variables::TORCH_NEURONX_INT64_MODE);
        let settings = Self {
            mode: Int64Mode::by_name(&mode).unwrap_or_default(),
            check_overflow: collector.bool(variables::TORCH_NEURONX_PACKED_INT64_CHECK_OVERFLOW),
        };
        (settings, collector.finish())
    }
}

impl Int64Mode {
    /// Every mode, the default first.
    pub const ALL: [Self; 5] =
        [Self::Native, Self::Packed, Self::NativeStrict, Self::CpuBounce, Self::CpuFallback];

    /// Returns the mode of exactly this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// Returns the name in the variable, such as `native_strict`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Packed => "packed",
            Self::NativeStrict => "native_strict",
            Self::CpuBounce => "cpu_bounce",
            Self::CpuFallback => "cpu_fallback",
        }
    }

    /// Says whether some operations of the mode use the packed view.
    pub const fn packs(self) -> bool {
        matches!(self, Self::Native | Self::Packed)
    }
}

impl fmt::Display for Int64Mode {
    /// Prints the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
