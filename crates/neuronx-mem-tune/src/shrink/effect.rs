//! What a trace is to show: out of memory, or a figure above a limit.

use std::fmt;
use std::str::FromStr;

use crate::Figures;

/// An effect that a trace has under a configuration on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// It runs out of memory.
    OutOfMemory,
    /// A figure is above so many bytes (or segments).
    Above {
        /// The figure.
        measure: Measure,
        /// The limit; the figure itself is not above it.
        limit: u64,
    },
}

/// A figure that only grows while a trace runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Measure {
    /// `reserved_peak`, bytes.
    ReservedPeak,
    /// `allocated_peak`, bytes.
    AllocatedPeak,
    /// `active_peak`, bytes.
    ActivePeak,
    /// `num_device_alloc`: segments taken from the runtime.
    NumDeviceAlloc,
}

/// Why a text names no effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no effect: expected oom, or reserved_peak, allocated_peak, active_peak or num_device_alloc, \
     `>` and a number"
)]
pub struct EffectFault {
    /// The text.
    pub text: String,
}

impl Measure {
    const ALL: [Self; 4] = [Self::ReservedPeak, Self::AllocatedPeak, Self::ActivePeak, Self::NumDeviceAlloc];

    /// The name in an effect, that of `replay --json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReservedPeak => "reserved_peak",
            Self::AllocatedPeak => "allocated_peak",
            Self::ActivePeak => "active_peak",
            Self::NumDeviceAlloc => "num_device_alloc",
        }
    }

    fn of(self, figures: &Figures) -> u64 {
        match self {
            Self::ReservedPeak => figures.reserved_peak_bytes,
            Self::AllocatedPeak => figures.allocated_peak_bytes,
            Self::ActivePeak => figures.active_peak_bytes,
            Self::NumDeviceAlloc => figures.num_device_alloc,
        }
    }
}

impl Effect {
    /// Reads `oom` or `reserved_peak>10737418240`; `number` reads what follows the `>`.
    ///
    /// # Errors
    ///
    /// [`EffectFault`].
    pub fn parse(text: &str, number: impl Fn(&str) -> Option<u64>) -> Result<Self, EffectFault> {
        let fault = || EffectFault { text: text.to_owned() };
        if text.trim() == "oom" {
            return Ok(Self::OutOfMemory);
        }
        let (name, limit) = text.split_once('>').ok_or_else(fault)?;
        let measure = Measure::ALL.into_iter().find(|measure| measure.name() == name.trim());
        let limit = number(limit.trim());
        measure.zip(limit).map(|(measure, limit)| Self::Above { measure, limit }).ok_or_else(fault)
    }

    /// Whether figures show it.
    #[must_use]
    pub fn is_shown_by(&self, figures: &Figures) -> bool {
        match *self {
            Self::OutOfMemory => figures.num_ooms() > 0,
            Self::Above { measure, limit } => measure.of(figures) > limit,
        }
    }
}

impl FromStr for Effect {
    type Err = EffectFault;

    fn from_str(text: &str) -> Result<Self, EffectFault> {
        Self::parse(text, |number| number.parse().ok())
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory => f.write_str("oom"),
            Self::Above { measure, limit } => write!(f, "{}>{limit}", measure.name()),
        }
    }
}
