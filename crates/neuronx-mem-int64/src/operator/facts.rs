//! What the table says of one operator.

use crate::OperatorClass;

/// What is known of an operator, whatever the mode.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperatorFacts {
    /// Its class.
    pub class: OperatorClass,
    /// What becomes of `int64` values in it.
    pub values: Values,
    /// Whether the device runs it on 64-bit integers.
    pub device64: bool,
    /// How well `device64` is known.
    pub basis: Basis,
    /// In what the device computes it when not in 64 bits.
    pub data_path: DataPath,
    /// Whether the compiler refuses it on 32-bit integers as well.
    pub is_refused: bool,
    /// Whether one operand is `int64` whatever the type of the data, such as the indices of
    /// `embedding`.
    pub is_always_int64: bool,
    /// What the shape of a result says about an `int64` operand.
    pub operand_shape: OperandShape,
    /// How many tensors a call returns.
    pub n_results: usize,
    /// Where this is known from.
    pub source: String,
}

/// What becomes of `int64` values in an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Values {
    /// None is read: another view of the same storage, or state that is only handed on.
    View,
    /// They are copied as they are, both words.
    Moved,
    /// An operand holds positions; data is moved.
    Index,
    /// They take part in arithmetic or in a comparison.
    Computed,
}

/// How well it is known whether the device runs an operator on 64-bit integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Basis {
    /// A published document says so.
    Documented,
    /// A build from before the modes did so.
    OlderBuild,
    /// Nothing public says so; it follows from what is not excepted, or from another fact.
    Assumed,
}

impl Basis {
    /// Returns the name in the table, such as `older_build`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Documented => "documented",
            Self::OlderBuild => "older_build",
            Self::Assumed => "assumed",
        }
    }
}

/// In what the device computes an operator when not in 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DataPath {
    /// In 32-bit integers, which wrap at 2³¹.
    #[default]
    Integer,
    /// In `float32`, which is exact up to 2²⁴ (neuronx-cc 2.27 release notes).
    Float32,
}

/// What the shape of a result says about an `int64` operand of the same call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OperandShape {
    /// Nothing certain.
    #[default]
    Unknown,
    /// An operand has the shape of the result.
    AsResult,
    /// An operand has the shape of the result without its last dimension.
    RowsOfResult,
}
