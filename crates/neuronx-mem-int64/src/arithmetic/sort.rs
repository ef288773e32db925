//! Sorting along one dimension.

use super::{Arithmetic, Axis, Reference, Traced};
use crate::{Int64Error, Operand};

/// Which values come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// The smallest.
    #[default]
    Ascending,
    /// The largest.
    Descending,
}

impl Reference {
    /// Sorts along a dimension of a contiguous tensor; equal values keep their order: O(n log n).
    ///
    /// # Errors
    ///
    /// [`Int64Error::Length`] for a tensor of another size, and [`Int64Error::Overflow`] where the
    /// check is on.
    pub fn sort(&self, values: &[i64], axis: Axis, order: Order) -> Result<Traced, Int64Error> {
        self.topk(values, axis, axis.n, order)
    }

    /// Returns the first `k` of what sorting gives: the largest in descending order. Of equal values
    /// the earlier comes first: O(n log n).
    ///
    /// # Errors
    ///
    /// [`Int64Error::TooMany`] when the dimension has fewer than `k` elements; others as for
    /// [`sort`](Self::sort).
    pub fn topk(&self, values: &[i64], axis: Axis, k: usize, order: Order) -> Result<Traced, Int64Error> {
        axis.expect(&self.operator(), Operand::Input(0), values.len())?;
        if k > axis.n {
            return Err(Int64Error::TooMany { operator: self.operator(), k, n: axis.n });
        }
        // What passes the check sorts as in 64 bits, and no new value comes of it.
        self.admit(0, values)?;
        Ok(run(self.arithmetic(), values, axis, k, order))
    }
}

fn run(arithmetic: Arithmetic, values: &[i64], axis: Axis, k: usize, order: Order) -> Traced {
    let firsts = axis.with_n(k);
    let n_results = firsts.n_outer * firsts.n * firsts.n_inner;
    let mut traced = Traced { values: vec![0; n_results], places: vec![0; n_results] };
    if axis.is_empty() {
        return traced;
    }
    for line in axis.lines() {
        let seen = axis.along(line).map(|place| arithmetic.seen(values[place]));
        let mut sorted: Vec<(i64, i64)> = seen.zip(0..).collect();
        match order {
            Order::Ascending => sorted.sort_by_key(|(value, _)| *value),
            Order::Descending => sorted.sort_by_key(|(value, _)| std::cmp::Reverse(*value)),
        }
        for (place, (value, along)) in firsts.along(line).zip(sorted) {
            (traced.values[place], traced.places[place]) = (value, along);
        }
    }
    traced
}
