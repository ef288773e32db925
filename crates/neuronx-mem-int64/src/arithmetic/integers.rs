//! PyTorch's integer operators on one or two values, for both widths from one text.

use super::{BinaryOp, UnaryOp};

/// Writes the operators for one type.
macro_rules! integers {
    ($type:ty, $bits:literal, $unary:ident, $binary:ident, $pow:ident, $gcd:ident) => {
        pub(super) fn $unary(op: UnaryOp, value: $type) -> $type {
            match op {
                UnaryOp::Neg => value.wrapping_neg(),
                UnaryOp::Abs => value.wrapping_abs(),
                UnaryOp::Sign => value.signum(),
                UnaryOp::BitwiseNot => !value,
                UnaryOp::Square => value.wrapping_mul(value),
                UnaryOp::LogicalNot => <$type>::from(value == 0),
                UnaryOp::Relu => value.max(0),
            }
        }

        /// `None` for a division by zero.
        pub(super) fn $binary(op: BinaryOp, left: $type, right: $type) -> Option<$type> {
            let is_division = matches!(
                op,
                BinaryOp::FloorDivide | BinaryOp::TruncDivide | BinaryOp::Remainder | BinaryOp::Fmod
            );
            if is_division && right == 0 {
                return None;
            }
            Some(match op {
                BinaryOp::Add => left.wrapping_add(right),
                BinaryOp::Sub => left.wrapping_sub(right),
                BinaryOp::Mul => left.wrapping_mul(right),
                BinaryOp::TruncDivide => left.wrapping_div(right),
                BinaryOp::Fmod => left.wrapping_rem(right),
                BinaryOp::FloorDivide => {
                    let has_rest = left.wrapping_rem(right) != 0 && (left < 0) != (right < 0);
                    left.wrapping_div(right) - <$type>::from(has_rest)
                }
                BinaryOp::Remainder => {
                    let rest = left.wrapping_rem(right);
                    if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest }
                }
                BinaryOp::Maximum => left.max(right),
                BinaryOp::Minimum => left.min(right),
                BinaryOp::Pow => $pow(left, right),
                BinaryOp::Gcd => $gcd(left, right),
                BinaryOp::BitwiseAnd => left & right,
                BinaryOp::BitwiseOr => left | right,
                BinaryOp::BitwiseXor => left ^ right,
                BinaryOp::ShiftLeft => amount(right.into(), $bits).map_or(0, |by| left << by),
                BinaryOp::ShiftRight => left >> amount(right.into(), $bits).unwrap_or($bits - 1),
                BinaryOp::Eq => <$type>::from(left == right),
                BinaryOp::Ne => <$type>::from(left != right),
                BinaryOp::Lt => <$type>::from(left < right),
                BinaryOp::Le => <$type>::from(left <= right),
                BinaryOp::Gt => <$type>::from(left > right),
                BinaryOp::Ge => <$type>::from(left >= right),
                BinaryOp::LogicalAnd => <$type>::from(left != 0 && right != 0),
                BinaryOp::LogicalOr => <$type>::from(left != 0 || right != 0),
                BinaryOp::LogicalXor => <$type>::from((left != 0) != (right != 0)),
            })
        }

        fn $pow(base: $type, exponent: $type) -> $type {
            if exponent < 0 {
                return match base {
                    1 => 1,
                    -1 if exponent & 1 == 0 => 1,
                    -1 => -1,
                    _ => 0,
                };
            }
            let (mut power, mut base, mut rest) = (1, base, exponent);
            while rest != 0 {
                if rest & 1 == 1 {
                    power = <$type>::wrapping_mul(power, base);
                }
                base = base.wrapping_mul(base);
                rest >>= 1;
            }
            power
        }

        fn $gcd(left: $type, right: $type) -> $type {
            let (mut left, mut right) = (left.wrapping_abs(), right.wrapping_abs());
            while left != 0 {
                (left, right) = (right.wrapping_rem(left), left);
            }
            right
        }
    };
}

integers!(i64, 64, unary_i64, binary_i64, pow_i64, gcd_i64);
integers!(i32, 32, unary_i32, binary_i32, pow_i32, gcd_i32);

/// By how much to shift; `None` for a negative amount and from the width on.
fn amount(amount: i64, n_bits: u32) -> Option<u32> {
    u32::try_from(amount).ok().filter(|amount| *amount < n_bits)
}
