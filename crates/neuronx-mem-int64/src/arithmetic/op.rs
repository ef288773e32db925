//! Operators element by element: their names, and their values in each arithmetic.

use super::{Arithmetic, integers, low_word};
use crate::OperatorName;

/// Writes an enum of operators with the names that PyTorch has for them.
macro_rules! ops {
    ($(#[$attribute:meta])* $type:ident { $($(#[doc = $doc:literal])+ $op:ident = $($name:literal)|+,)+ }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $type { $($(#[doc = $doc])+ $op,)+ }

        impl $type {
            /// Every operator of this kind.
            pub const ALL: &[Self] = &[$(Self::$op),+];

            /// Finds the operator under any of its spellings; `None` where there is no reference for it.
            #[must_use]
            pub fn by_operator(operator: &str) -> Option<Self> {
                let name = OperatorName::fold(operator);
                name.candidates().find_map(|name| match name {
                    $($($name)|+ => Some(Self::$op),)+
                    _ => None,
                })
            }

            /// Returns PyTorch's name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$op => ops!(@first $($name)+),)+ }
            }
        }
    };
    (@first $first:literal $($rest:literal)*) => { $first };
}

ops! {
    /// An operator on one value.
    UnaryOp {
        /// Minus the value; the smallest stays.
        Neg = "neg",
        /// The amount; the smallest stays.
        Abs = "abs",
        /// -1, 0 or 1.
        Sign = "sign" | "sgn",
        /// All bits inverted.
        BitwiseNot = "bitwise_not",
        /// The value times itself.
        Square = "square",
        /// 1 for zero, 0 for all else.
        LogicalNot = "logical_not",
        /// The value, or zero for a negative one.
        Relu = "relu",
    }
}

ops! {
    /// An operator on two values. Comparisons give 1 or 0.
    BinaryOp {
        /// The sum.
        Add = "add",
        /// The difference.
        Sub = "sub" | "subtract",
        /// The product.
        Mul = "mul" | "multiply",
        /// The quotient, rounded down.
        FloorDivide = "floor_divide",
        /// The quotient, rounded to zero: `div` with that rounding mode.
        TruncDivide = "trunc_divide",
        /// The remainder with the sign of the divisor.
        Remainder = "remainder",
        /// The remainder with the sign of the dividend.
        Fmod = "fmod",
        /// The larger value.
        Maximum = "maximum" | "fmax" | "clamp_min",
        /// The smaller value.
        Minimum = "minimum" | "fmin" | "clamp_max",
        /// The power. A negative exponent gives 0, except for the bases 1 and -1.
        Pow = "pow",
        /// The greatest common divisor.
        Gcd = "gcd",
        /// Bits of both.
        BitwiseAnd = "bitwise_and" | "__and__",
        /// Bits of either.
        BitwiseOr = "bitwise_or" | "__or__",
        /// Bits of one.
        BitwiseXor = "bitwise_xor" | "__xor__",
        /// Shifted to the left; 0 for a negative amount, and from the width on.
        ShiftLeft = "bitwise_left_shift" | "__lshift__",
        /// Shifted to the right; the sign for a negative amount, and from the width on.
        ShiftRight = "bitwise_right_shift" | "__rshift__",
        /// Equal.
        Eq = "eq",
        /// Not equal.
        Ne = "ne" | "not_equal",
        /// Less.
        Lt = "lt" | "less",
        /// Less or equal.
        Le = "le" | "less_equal",
        /// Greater.
        Gt = "gt" | "greater",
        /// Greater or equal.
        Ge = "ge" | "greater_equal",
        /// Neither is zero.
        LogicalAnd = "logical_and",
        /// Not both are zero.
        LogicalOr = "logical_or",
        /// One of them is zero.
        LogicalXor = "logical_xor",
    }
}

impl UnaryOp {
    /// Computes one value.
    #[must_use]
    pub fn apply(self, arithmetic: Arithmetic, value: i64) -> i64 {
        match arithmetic {
            Arithmetic::Int64 => integers::unary_i64(self, value),
            Arithmetic::LowWord | Arithmetic::Int32Cast | Arithmetic::Float32 => {
                integers::unary_i32(self, low_word(value)).into()
            }
        }
    }
}

impl BinaryOp {
    /// Computes one value; `None` for a division by zero.
    ///
    /// A divisor may be zero for an arithmetic that sees only its low word.
    ///
    /// ```
    /// use neuronx_mem_int64::{Arithmetic, BinaryOp};
    ///
    /// let divisor = 1 << 32;
    /// assert_eq!(BinaryOp::FloorDivide.apply(Arithmetic::Int64, 7, divisor), Some(0));
    /// assert_eq!(BinaryOp::FloorDivide.apply(Arithmetic::LowWord, 7, divisor), None);
    /// ```
    #[must_use]
    pub fn apply(self, arithmetic: Arithmetic, left: i64, right: i64) -> Option<i64> {
        match arithmetic {
            Arithmetic::Int64 => integers::binary_i64(self, left, right),
            Arithmetic::LowWord | Arithmetic::Int32Cast => {
                integers::binary_i32(self, low_word(left), low_word(right)).map(i64::from)
            }
            Arithmetic::Float32 => rounded(self, low_word(left), low_word(right)),
        }
    }

    /// Says whether the low bits of the result follow from the low bits of the operands, so that low
    /// words are right exactly when the result fits into them, whatever the operands.
    #[must_use]
    pub const fn is_modular(self) -> bool {
        matches!(
            self,
            Self::Add | Self::Sub | Self::Mul | Self::BitwiseAnd | Self::BitwiseOr | Self::BitwiseXor
        )
    }
}

/// Sums and products in `float32`; everything else as integers.
fn rounded(op: BinaryOp, left: i32, right: i32) -> Option<i64> {
    let result = match op {
        BinaryOp::Add => left as f32 + right as f32,
        BinaryOp::Sub => left as f32 - right as f32,
        BinaryOp::Mul => left as f32 * right as f32,
        _ => return integers::binary_i32(op, left, right).map(i64::from),
    };
    Some(i64::from(to_int32(result)))
}

/// The nearest `int32`: a float beyond the range becomes its end.
#[expect(clippy::cast_possible_truncation, reason = "the cast goes to the nearest value, which is meant")]
const fn to_int32(value: f32) -> i32 {
    value as i32
}
