//! What can go wrong. Numbers in fields; one line each.

use std::fmt;

/// What can go wrong with 64-bit tensors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Int64Error {
    /// A mode that is none of the five.
    #[error("int64 mode `{text}` is none of native, packed, native_strict, cpu_bounce, cpu_fallback")]
    UnknownMode {
        /// The text that was read.
        text: String,
    },
    /// A value of a packed operator lies outside the range of `int32`, and the check is on.
    #[error(
        "{operator}: {operand}, element {index}: {value} is outside the range of int32 ({count} such \
        value{s}), and the packed view computes with the low 32 bits",
        s = if *count == 1 { "" } else { "s" }
    )]
    Overflow {
        /// The operator, as the caller named it.
        operator: String,
        /// Whose element it is.
        operand: Operand,
        /// Its place in row-major order, from 0.
        index: usize,
        /// The value: what the operand holds, or what 64-bit arithmetic gives as a result.
        value: i64,
        /// How many elements of this operand are outside.
        count: usize,
    },
    /// An integer division by zero.
    #[error("{operator}: element {index}: division by zero")]
    DivisionByZero {
        /// The operator, as the caller named it.
        operator: String,
        /// Its place in row-major order, from 0.
        index: usize,
    },
    /// An index that points to no row.
    #[error("{operator}: index {value} at element {position} is out of range for {n_rows} rows")]
    IndexOutOfRange {
        /// The operator, as the caller named it.
        operator: String,
        /// The place of the index among the indices, from 0.
        position: usize,
        /// The index as the arithmetic sees it: without its high word where that is dropped.
        value: i64,
        /// How many rows there are.
        n_rows: usize,
    },
    /// Operands that do not fit each other.
    #[error("{operator}: {operand} has {actual} elements where {expected} are needed")]
    Length {
        /// The operator, as the caller named it.
        operator: String,
        /// Whose length it is.
        operand: Operand,
        /// The length needed.
        expected: usize,
        /// The length given.
        actual: usize,
    },
    /// More sorted elements asked for than there are.
    #[error("{operator}: {k} elements asked of {n}")]
    TooMany {
        /// The operator, as the caller named it.
        operator: String,
        /// How many were asked for.
        k: usize,
        /// How many there are.
        n: usize,
    },
    /// A shape and strides of different rank.
    #[error("{n_dims} dimensions with {n_strides} strides")]
    Rank {
        /// Dimensions of the shape.
        n_dims: usize,
        /// Strides given.
        n_strides: usize,
    },
    /// A tensor whose elements cannot be counted or addressed.
    #[error("the tensor needs more elements than can be addressed")]
    TooLarge,
    /// A tensor that reaches beyond its storage.
    #[error("the tensor reaches to element {needed} of a storage of {available}")]
    Storage {
        /// Elements (or words) that the storage needs.
        needed: usize,
        /// Elements (or words) that it has.
        available: usize,
    },
    /// Words that are not whole pairs at an address of 64-bit values.
    #[error("{n_words} words at this address are not pairs of 64-bit values")]
    NotPairs {
        /// Words given.
        n_words: usize,
    },
    /// An operator table that cannot be read.
    #[error("operator table: {reason}")]
    Table {
        /// What is wrong, on one line.
        reason: String,
    },
}

/// Whose element is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operand {
    /// An operand, from 0.
    Input(usize),
    /// The result.
    Output,
}

impl Int64Error {
    /// Says whether a value did not fit into 32 bits.
    #[must_use]
    pub const fn is_overflow(&self) -> bool {
        matches!(self, Self::Overflow { .. })
    }
}

impl fmt::Display for Operand {
    /// Prints `operand 0` or `result`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(idx) => write!(f, "operand {idx}"),
            Self::Output => f.write_str("result"),
        }
    }
}
