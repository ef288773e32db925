//! The five modes and how their names are read.
//!
//! Knows names. What a mode does with an operator is for [`route`](crate::route) to say.

use std::fmt;
use std::str::FromStr;

use crate::Int64Error;

/// How operators on `int64` run: the values of `TORCH_NEURONX_INT64_MODE`.
///
/// Follows the guidelines for memory management, "Understand 64-bit dtype memory behavior".
///
/// ```
/// use neuronx_mem_int64::Int64Mode;
///
/// assert_eq!("native_strict".parse(), Ok(Int64Mode::NativeStrict));
/// assert!("Packed".parse::<Int64Mode>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Int64Mode {
    /// As 64-bit on the device where supported, else packed; matrix products on the CPU.
    #[default]
    Native,
    /// As two 32-bit words, of which arithmetic uses the low one.
    Packed,
    /// As 64-bit on the device where supported, else on the CPU.
    NativeStrict,
    /// Cast to `int32` by way of the CPU, then on the device.
    CpuBounce,
    /// On the CPU.
    CpuFallback,
}

impl Int64Mode {
    /// Every mode, the default first.
    pub const ALL: [Self; 5] =
        [Self::Native, Self::Packed, Self::NativeStrict, Self::CpuBounce, Self::CpuFallback];

    /// Returns the name in the variable, such as `native_strict`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Packed => "packed",
            Self::NativeStrict => "native_strict",
            Self::CpuBounce => "cpu_bounce",
            Self::CpuFallback => "cpu_fallback",
        }
    }

    /// Says whether some operators of the mode use the packed view, so that the overflow check has
    /// something to check.
    #[must_use]
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

impl FromStr for Int64Mode {
    type Err = Int64Error;

    /// Reads exactly one of the names; case counts.
    fn from_str(text: &str) -> Result<Self, Int64Error> {
        let mode = Self::ALL.into_iter().find(|mode| mode.name() == text);
        mode.ok_or_else(|| Int64Error::UnknownMode { text: text.to_owned() })
    }
}
