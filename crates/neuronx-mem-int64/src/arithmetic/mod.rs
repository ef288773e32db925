//! What each mode does to values: the same operators in 64 bits, on low words, as `int32`, in
//! `float32`.
//!
//! A reference, not a kernel: plain loops over slices, for tests and for a simulated device. Knows
//! PyTorch's rules for integers; knows no tensor and no stride.

mod axis;
mod index;
mod integers;
mod op;
mod reduce;
mod reference;
mod scan;
mod sort;

pub use axis::Axis;
pub use index::Negative;
pub use op::{BinaryOp, UnaryOp};
pub use reduce::Reduction;
pub use reference::Reference;
pub use scan::{ScanOp, Traced};
pub use sort::Order;

/// With what an operator computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Arithmetic {
    /// 64-bit integers that wrap.
    Int64,
    /// The low words of packed values as `int32`, which wrap; what is only moved keeps both words.
    LowWord,
    /// Values cast to `int32`, which wrap; what is only moved has lost its high word as well.
    Int32Cast,
    /// Low words as `int32`, whose sums and products are rounded to `float32` (neuronx-cc 2.27 release
    /// notes, implicit integer downcast).
    Float32,
}

impl Arithmetic {
    /// Returns a value as arithmetic sees it.
    ///
    /// ```
    /// use neuronx_mem_int64::Arithmetic;
    ///
    /// let value = (1 << 32) + 5;
    /// assert_eq!(Arithmetic::Int64.seen(value), value);
    /// assert_eq!(Arithmetic::LowWord.seen(value), 5);
    /// assert_eq!(Arithmetic::LowWord.seen(1 << 31), -(1 << 31));
    /// ```
    #[must_use]
    pub const fn seen(self, value: i64) -> i64 {
        match self {
            Self::Int64 => value,
            Self::LowWord | Self::Int32Cast | Self::Float32 => low_word(value) as i64,
        }
    }

    /// Returns a value after a move that computes nothing.
    #[must_use]
    pub const fn moved(self, value: i64) -> i64 {
        match self {
            Self::Int64 | Self::LowWord | Self::Float32 => value,
            Self::Int32Cast => low_word(value) as i64,
        }
    }
}

/// The low 32 bits, as a signed number.
#[expect(clippy::cast_possible_truncation, reason = "the high word is what is to be dropped")]
pub(crate) const fn low_word(value: i64) -> i32 {
    value as i32
}
