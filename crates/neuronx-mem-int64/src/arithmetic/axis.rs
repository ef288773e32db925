//! Along which dimension of a contiguous tensor an operator works.

use crate::{Int64Error, Operand};

/// A dimension of a contiguous tensor: how many elements it has, how many of it there are before it,
/// and how many elements lie between two neighbours.
///
/// ```
/// use neuronx_mem_int64::Axis;
///
/// let columns = Axis::of(&[2, 3, 4], 1);
/// assert_eq!(columns, Some(Axis { n_outer: 2, n: 3, n_inner: 4 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "the three numbers are all there is to a dimension")]
pub struct Axis {
    /// Elements of all dimensions before it, multiplied.
    pub n_outer: usize,
    /// Elements along it.
    pub n: usize,
    /// Elements of all dimensions behind it, multiplied.
    pub n_inner: usize,
}

impl Axis {
    /// The only dimension of a vector.
    #[must_use]
    pub const fn flat(n: usize) -> Self {
        Self { n_outer: 1, n, n_inner: 1 }
    }

    /// Dimension `dim` of a shape; `None` where there is none, or more elements than can be counted.
    #[must_use]
    pub fn of(shape: &[usize], dim: usize) -> Option<Self> {
        let count = |sizes: &[usize]| sizes.iter().try_fold(1_usize, |n, size| n.checked_mul(*size));
        let axis = Self {
            n_outer: count(shape.get(..dim)?)?,
            n: *shape.get(dim)?,
            n_inner: count(shape.get(dim + 1..)?)?,
        };
        axis.len().map(|_| axis)
    }

    /// The same dimensions around it, with another length along it.
    #[must_use]
    pub const fn with_n(self, n: usize) -> Self {
        Self { n, ..self }
    }

    /// Elements of the whole tensor; `None` where they cannot be counted.
    #[must_use]
    pub fn len(self) -> Option<usize> {
        self.n_outer.checked_mul(self.n)?.checked_mul(self.n_inner)
    }

    /// Says whether the tensor has no element.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.n_outer == 0 || self.n == 0 || self.n_inner == 0
    }

    /// The place of an element, for a tensor whose length was checked.
    pub(super) const fn place(self, outer: usize, along: usize, inner: usize) -> usize {
        (outer * self.n + along) * self.n_inner + inner
    }

    /// Every pair of places around the dimension.
    pub(super) fn lines(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.n_outer).flat_map(move |outer| (0..self.n_inner).map(move |inner| (outer, inner)))
    }

    /// The places along the dimension, for one pair around it.
    pub(super) fn along(self, (outer, inner): (usize, usize)) -> impl Iterator<Item = usize> {
        (0..self.n).map(move |along| self.place(outer, along, inner))
    }

    /// Checks that a tensor has this many elements.
    pub(super) fn expect(self, operator: &str, operand: Operand, actual: usize) -> Result<(), Int64Error> {
        let expected = self.len().ok_or(Int64Error::TooLarge)?;
        if expected == actual {
            return Ok(());
        }
        Err(Int64Error::Length { operator: operator.to_owned(), operand, expected, actual })
    }
}
