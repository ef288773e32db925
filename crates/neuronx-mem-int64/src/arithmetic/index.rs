//! Reading and writing by index: where lost high words do not show as wrong numbers but as data from
//! another row.

use super::{Axis, BinaryOp, Reference};
use crate::{Int64Error, Operand};

/// What a negative index means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Negative {
    /// Counted from the end, as for `index`, `index_put` and `take`.
    FromEnd,
    /// Out of range, as for `gather`, `scatter`, `index_select` and `embedding`.
    OutOfRange,
}

impl Reference {
    /// Returns the rows that indices point to: O(n).
    ///
    /// The rows are numbered in 64 bits whatever the arithmetic, so that only the indices themselves
    /// can be wrong, not the addresses made of them.
    ///
    /// # Errors
    ///
    /// [`Int64Error::IndexOutOfRange`], and [`Int64Error::Overflow`] where the check is on; the
    /// indices are operand 1.
    pub fn rows(&self, index: &[i64], n_rows: usize, negative: Negative) -> Result<Vec<usize>, Int64Error> {
        self.admit(1, index)?;
        let row = |(position, value): (usize, &i64)| {
            let value = self.arithmetic().seen(*value);
            row_of(value, n_rows, negative).ok_or_else(|| Int64Error::IndexOutOfRange {
                operator: self.operator(),
                position,
                value,
                n_rows,
            })
        };
        index.iter().enumerate().map(row).collect()
    }

    /// Reads whole rows, of any type, as `embedding` and `index_select` do: O(rows × row length).
    ///
    /// ```
    /// use neuronx_mem_int64::{Arithmetic, Reference};
    ///
    /// let (weights, token) = ([0.5, 1.5, 2.5], (1 << 32) + 2);
    /// let read = |arithmetic| {
    ///     Reference::new("aten.embedding", arithmetic).read_rows(&weights, 1, &[token])
    /// };
    /// assert!(read(Arithmetic::Int64).is_err());
    /// assert_eq!(read(Arithmetic::LowWord), Ok(vec![2.5]));
    /// ```
    ///
    /// # Errors
    ///
    /// As [`rows`](Self::rows); [`Int64Error::Length`] when the data is not made of whole rows.
    pub fn read_rows<T: Copy>(
        &self,
        data: &[T],
        row_len: usize,
        index: &[i64],
    ) -> Result<Vec<T>, Int64Error> {
        let n_rows = data.len().checked_div(row_len).unwrap_or(0);
        Axis { n_outer: n_rows, n: row_len, n_inner: 1 }.expect(
            &self.operator(),
            Operand::Input(0),
            data.len(),
        )?;
        let rows = self.rows(index, n_rows, Negative::OutOfRange)?;
        Ok(rows.into_iter().flat_map(|row| &data[row * row_len..][..row_len]).copied().collect())
    }

    /// Reads along a dimension by one index for each result, as `gather` does: O(indices).
    ///
    /// `index` has the dimensions of the data around `axis`, and any number of elements along it.
    ///
    /// # Errors
    ///
    /// As [`rows`](Self::rows); [`Int64Error::Length`] when the tensors do not fit.
    pub fn gather(&self, data: &[i64], axis: Axis, index: &[i64]) -> Result<Vec<i64>, Int64Error> {
        let places = self.places(data, axis, index)?;
        Ok(places.into_iter().map(|place| self.arithmetic().moved(data[place])).collect())
    }

    /// Writes along a dimension by one index for each element of `source`, as `scatter` does; of two
    /// for one place the later stays: O(data + indices).
    ///
    /// # Errors
    ///
    /// As [`gather`](Self::gather).
    pub fn scatter(
        &self,
        data: &[i64],
        axis: Axis,
        index: &[i64],
        source: &[i64],
    ) -> Result<Vec<i64>, Int64Error> {
        let places = self.places(data, axis, index)?;
        self.same_length(index.len(), source.len())?;
        let mut result: Vec<i64> = data.iter().map(|value| self.arithmetic().moved(*value)).collect();
        for (place, value) in places.into_iter().zip(source) {
            result[place] = self.arithmetic().moved(*value);
        }
        Ok(result)
    }

    /// Adds along a dimension by one index for each element of `source`, as `scatter_add` does:
    /// O(data + indices).
    ///
    /// # Errors
    ///
    /// As [`gather`](Self::gather); the check looks at data, source and sums too.
    pub fn scatter_add(
        &self,
        data: &[i64],
        axis: Axis,
        index: &[i64],
        source: &[i64],
    ) -> Result<Vec<i64>, Int64Error> {
        self.admit(0, data)?;
        let places = self.places(data, axis, index)?;
        self.same_length(index.len(), source.len())?;
        self.admit(2, source)?;
        self.settle(|arithmetic| {
            let mut sums: Vec<i64> = data.iter().map(|value| arithmetic.seen(*value)).collect();
            for (place, value) in places.iter().zip(source) {
                // A sum divides nothing, so that it is never absent.
                sums[*place] = BinaryOp::Add.apply(arithmetic, sums[*place], *value).unwrap_or_default();
            }
            Ok(sums)
        })
    }

    /// The place in the data for each index.
    fn places(&self, data: &[i64], axis: Axis, index: &[i64]) -> Result<Vec<usize>, Int64Error> {
        axis.expect(&self.operator(), Operand::Input(0), data.len())?;
        let n_lines = axis.n_outer.checked_mul(axis.n_inner).ok_or(Int64Error::TooLarge)?;
        let along = axis.with_n(index.len().checked_div(n_lines).unwrap_or(0));
        along.expect(&self.operator(), Operand::Input(1), index.len())?;
        let rows = self.rows(index, axis.n, Negative::OutOfRange)?;
        let place = |(position, row): (usize, usize)| {
            let (inner, rest) = (position % along.n_inner, position / along.n_inner);
            axis.place(rest / along.n, row, inner)
        };
        Ok(rows.into_iter().enumerate().map(place).collect())
    }

    fn same_length(&self, expected: usize, actual: usize) -> Result<(), Int64Error> {
        if expected == actual {
            return Ok(());
        }
        Err(Int64Error::Length { operator: self.operator(), operand: Operand::Input(2), expected, actual })
    }
}

fn row_of(value: i64, n_rows: usize, negative: Negative) -> Option<usize> {
    let row = match negative {
        Negative::FromEnd if value < 0 => value.checked_add(i64::try_from(n_rows).ok()?)?,
        _ => value,
    };
    usize::try_from(row).ok().filter(|row| *row < n_rows)
}
