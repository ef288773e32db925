//! The four places where an operator can run, and the reasons to run it there.

use std::fmt;

/// Where an operator on `int64` runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Path {
    /// On the device, in 64 bits.
    Device64,
    /// On the device, on pairs of 32-bit words of which arithmetic uses the low one.
    DevicePacked,
    /// On the device as `int32`, cast there and back by the CPU.
    DeviceInt32,
    /// On the CPU, in 64 bits.
    Cpu,
}

impl Path {
    /// Every place.
    pub const ALL: [Self; 4] = [Self::Device64, Self::DevicePacked, Self::DeviceInt32, Self::Cpu];

    /// Returns the name in JSON, such as `device_packed`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device64 => "device64",
            Self::DevicePacked => "device_packed",
            Self::DeviceInt32 => "device_int32",
            Self::Cpu => "cpu",
        }
    }

    /// Says whether arithmetic has 32 bits only.
    #[must_use]
    pub const fn is_32_bit(self) -> bool {
        matches!(self, Self::DevicePacked | Self::DeviceInt32)
    }
}

impl fmt::Display for Path {
    /// Prints the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why an operator runs where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// It makes another view of the same storage.
    ViewOnly,
    /// It computes with floats; its `int64` tensors are the state of the random generator.
    StateOnly,
    /// It moves whole elements and computes nothing.
    MoveOnly,
    /// The device runs it on 64-bit integers.
    Supported,
    /// The device does not run it on 64-bit integers.
    NotSupported,
    /// It is in no table, and counts as not supported.
    UnknownOperator,
    /// Matrix products run on the CPU.
    MatmulOnCpu,
    /// The mode packs everything.
    ModePacksAll,
    /// The mode casts everything to `int32`.
    ModeBouncesAll,
    /// The mode runs everything on the CPU.
    ModeKeepsAllOnCpu,
    /// The device has no `float64`.
    NoFloat64,
    /// Conversions between `float64` and `float32` run on the CPU.
    Float64Conversion,
}

impl fmt::Display for Reason {
    /// Prints half a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::ViewOnly => "views touch no data",
            Self::StateOnly => "the int64 tensors are random state",
            Self::MoveOnly => "whole elements are moved",
            Self::Supported => "run by the device on 64-bit integers",
            Self::NotSupported => "not run by the device on 64-bit integers",
            Self::UnknownOperator => "not in the operator table, taken as not run on 64-bit integers",
            Self::MatmulOnCpu => "matrix products on int64 run on the CPU",
            Self::ModePacksAll => "the mode packs every operator",
            Self::ModeBouncesAll => "the mode casts every operator to int32",
            Self::ModeKeepsAllOnCpu => "the mode runs every operator on the CPU",
            Self::NoFloat64 => "the device has no float64",
            Self::Float64Conversion => "conversions of float64 run on the CPU",
        })
    }
}
