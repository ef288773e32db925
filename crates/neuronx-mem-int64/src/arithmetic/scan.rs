//! Running sums, products and extremes along one dimension.

use super::{Arithmetic, Axis, BinaryOp, Reference};
use crate::{Int64Error, Operand};

/// What is carried along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScanOp {
    /// The sum so far: `cumsum`.
    Sum,
    /// The product so far: `cumprod`.
    Prod,
    /// The largest so far: `cummax`. Of equal ones the last counts.
    Max,
    /// The smallest so far: `cummin`. Of equal ones the last counts.
    Min,
}

impl ScanOp {
    /// Every scan.
    pub const ALL: [Self; 4] = [Self::Sum, Self::Prod, Self::Max, Self::Min];

    /// The value carried on, and whether it is the new one.
    fn step(self, arithmetic: Arithmetic, carried: i64, value: i64) -> (i64, bool) {
        // Neither a sum nor a product divides, so that neither is ever absent.
        let combined = |op: BinaryOp| (op.apply(arithmetic, carried, value).unwrap_or_default(), true);
        match self {
            Self::Sum => combined(BinaryOp::Add),
            Self::Prod => combined(BinaryOp::Mul),
            Self::Max if value >= carried => (value, true),
            Self::Min if value <= carried => (value, true),
            Self::Max | Self::Min => (carried, false),
        }
    }
}

/// Values, and where along the dimension each came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traced {
    /// The values.
    pub values: Vec<i64>,
    /// For each its place along the dimension, from 0.
    pub places: Vec<i64>,
}

impl Reference {
    /// Carries a value along a dimension of a contiguous tensor; the places are those of the values
    /// that `cummax` and `cummin` return: O(n).
    ///
    /// # Errors
    ///
    /// [`Int64Error::Length`] for a tensor of another size, and [`Int64Error::Overflow`] where the
    /// check is on.
    pub fn scan(&self, op: ScanOp, values: &[i64], axis: Axis) -> Result<Traced, Int64Error> {
        axis.expect(&self.operator(), Operand::Input(0), values.len())?;
        self.admit(0, values)?;
        let scanned = self.settle(|arithmetic| Ok(run(op, arithmetic, values, axis).values))?;
        Ok(Traced { values: scanned, places: run(op, self.arithmetic(), values, axis).places })
    }
}

fn run(op: ScanOp, arithmetic: Arithmetic, values: &[i64], axis: Axis) -> Traced {
    let mut traced = Traced { values: vec![0; values.len()], places: vec![0; values.len()] };
    if axis.is_empty() {
        return traced;
    }
    for line in axis.lines() {
        let mut carried: Option<(i64, i64)> = None;
        for (along, place) in (0_i64..).zip(axis.along(line)) {
            let value = arithmetic.seen(values[place]);
            let next = match carried {
                None => (value, along),
                Some((before, from)) => match op.step(arithmetic, before, value) {
                    (next, true) => (next, along),
                    (next, false) => (next, from),
                },
            };
            (traced.values[place], traced.places[place]) = next;
            carried = Some(next);
        }
    }
    traced
}
