//! Reductions along one dimension.

use super::{Arithmetic, Axis, BinaryOp, Reference};
use crate::{Int64Error, Operand};

/// How the values along a dimension become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reduction {
    /// Their sum; 0 for none.
    Sum,
    /// Their product; 1 for none.
    Prod,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The place of the first smallest.
    ArgMin,
    /// The place of the first largest.
    ArgMax,
    /// 1 when one is not zero.
    Any,
    /// 1 when none is zero.
    All,
    /// How many are not zero.
    CountNonzero,
}

impl Reduction {
    /// Every reduction.
    pub const ALL: [Self; 9] = [
        Self::Sum,
        Self::Prod,
        Self::Min,
        Self::Max,
        Self::ArgMin,
        Self::ArgMax,
        Self::Any,
        Self::All,
        Self::CountNonzero,
    ];

    /// One value out of many; `None` for the smallest or largest of none.
    fn apply(self, arithmetic: Arithmetic, values: impl Iterator<Item = i64>) -> Option<i64> {
        let mut values = values.map(|value| arithmetic.seen(value));
        match self {
            Self::Sum => fold(arithmetic, BinaryOp::Add, 0, values),
            Self::Prod => fold(arithmetic, BinaryOp::Mul, 1, values),
            Self::Min => values.min(),
            Self::Max => values.max(),
            Self::ArgMin => place(values.enumerate().min_by_key(|(_, value)| *value)),
            // Of equal ones `max_by_key` takes the last.
            Self::ArgMax => {
                place(values.enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best }))
            }
            Self::Any => Some(values.any(|value| value != 0).into()),
            Self::All => Some(values.all(|value| value != 0).into()),
            Self::CountNonzero => i64::try_from(values.filter(|value| *value != 0).count()).ok(),
        }
    }
}

/// Sums and products divide nothing, so that there is always one.
fn fold(
    arithmetic: Arithmetic,
    op: BinaryOp,
    start: i64,
    mut values: impl Iterator<Item = i64>,
) -> Option<i64> {
    values.try_fold(start, |carried, value| op.apply(arithmetic, carried, value))
}

fn place(found: Option<(usize, i64)>) -> Option<i64> {
    found.and_then(|(place, _)| i64::try_from(place).ok())
}

impl Reference {
    /// Reduces a dimension of a contiguous tensor to one element: O(n).
    ///
    /// # Errors
    ///
    /// [`Int64Error::Length`] for a tensor of another size, or for the smallest or largest of none;
    /// [`Int64Error::Overflow`] where the check is on.
    pub fn reduce(&self, op: Reduction, values: &[i64], axis: Axis) -> Result<Vec<i64>, Int64Error> {
        axis.expect(&self.operator(), Operand::Input(0), values.len())?;
        self.admit(0, values)?;
        let none = || Int64Error::Length {
            operator: self.operator(),
            operand: Operand::Input(0),
            expected: 1,
            actual: 0,
        };
        self.settle(|arithmetic| {
            let reduce = |line| {
                let line = axis.along(line).map(|place| values[place]);
                op.apply(arithmetic, line).ok_or_else(none)
            };
            axis.lines().map(reduce).collect()
        })
    }
}
