//! What a route can do to values.

use std::fmt;

use super::{Path, Route};
use crate::{DataPath, Reason, Values};

/// What can go wrong on a route. From the mildest to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Risk {
    /// A value outside `int32` is an error.
    Raises,
    /// The compiler refuses the operator on 32-bit integers.
    Refused,
    /// The operator is in no table: the route is a guess.
    Unknown,
    /// A value outside `int32` loses its high word on the way, even where it is only moved.
    Cast,
    /// Arithmetic uses the low 32 bits: a value outside `int32` gives a wrong result.
    LowWord,
    /// The device sums in `float32`: wrong beyond 2²⁴, before `int32` ends.
    Float32,
    /// An index outside `int32` points to another row.
    WrongRow,
}

impl Risk {
    /// Every risk, the mildest first.
    pub const ALL: [Self; 7] = [
        Self::Raises,
        Self::Refused,
        Self::Unknown,
        Self::Cast,
        Self::LowWord,
        Self::Float32,
        Self::WrongRow,
    ];

    /// Returns a short name for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raises => "raises",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
            Self::Cast => "cast",
            Self::LowWord => "low word",
            Self::Float32 => "float32",
            Self::WrongRow => "wrong row",
        }
    }

    /// Returns a sentence that explains the name, without its period.
    #[must_use]
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Raises => "a value outside int32 stops the program with an error",
            Self::Refused => "the compiler takes neither int32 nor int64 here",
            Self::Unknown => "not in the operator table, taken as not supported in 64 bits",
            Self::Cast => "values are cast to int32: outside its range they change silently",
            Self::LowWord => "arithmetic uses the low 32 bits: outside int32 results are wrong silently",
            Self::Float32 => "the device sums in float32: exact up to 2^24 only",
            Self::WrongRow => "an index outside int32 reads or writes another row silently",
        }
    }

    /// Says whether values can change without an error.
    #[must_use]
    pub const fn is_silent(self) -> bool {
        matches!(self, Self::Cast | Self::LowWord | Self::Float32 | Self::WrongRow)
    }
}

impl fmt::Display for Risk {
    /// Prints the short name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Route {
    /// Returns what can go wrong with a call whose data is `int64`, the mildest first; empty where
    /// every value survives.
    #[must_use]
    pub fn risks(&self) -> Vec<Risk> {
        self.risks_of(true)
    }

    /// Returns what can go wrong with a call of which only the index is `int64`, such as an
    /// `embedding` of floats: what becomes of wide data is no matter there.
    #[must_use]
    pub fn risks_of_index(&self) -> Vec<Risk> {
        self.risks_of(false)
    }

    fn risks_of(&self, is_data_wide: bool) -> Vec<Risk> {
        Risk::ALL.into_iter().filter(|risk| self.has(*risk, is_data_wide)).collect()
    }

    fn has(&self, risk: Risk, is_data_wide: bool) -> bool {
        let is_unchecked = self.path.is_32_bit() && !self.is_checked;
        let is_index = self.values == Values::Index;
        match risk {
            Risk::Raises => self.is_checked,
            Risk::Refused => self.path.is_32_bit() && self.is_refused,
            Risk::Unknown => self.class.is_none() && self.reason != Reason::NoFloat64,
            // Data that is moved beside an index is cast as well.
            Risk::Cast => self.path == Path::DeviceInt32 && (is_data_wide || !is_index),
            Risk::LowWord => {
                self.path == Path::DevicePacked && is_unchecked && self.values == Values::Computed
            }
            Risk::Float32 => {
                self.path.is_32_bit() && self.data_path == DataPath::Float32 && (is_data_wide || !is_index)
            }
            Risk::WrongRow => is_unchecked && is_index,
        }
    }
}
