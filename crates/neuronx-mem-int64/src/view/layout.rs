//! Shape, strides and offset of a tensor.

use crate::Int64Error;

/// How a tensor lies in its storage: as in PyTorch, all in elements.
///
/// Any number of dimensions, also none; sizes and strides may be zero. A stride of zero repeats the
/// same elements, as `expand` does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorLayout {
    shape: Vec<usize>,
    strides: Vec<usize>,
    offset: usize,
    n_elements: usize,
    n_storage: usize,
}

impl TensorLayout {
    /// Puts a layout together.
    ///
    /// # Errors
    ///
    /// [`Int64Error::Rank`] when shape and strides differ in length; [`Int64Error::TooLarge`] when the
    /// elements, or those of its words, cannot be counted or addressed.
    pub fn new(
        shape: impl Into<Vec<usize>>,
        strides: impl Into<Vec<usize>>,
        offset: usize,
    ) -> Result<Self, Int64Error> {
        let (shape, strides) = (shape.into(), strides.into());
        if shape.len() != strides.len() {
            return Err(Int64Error::Rank { n_dims: shape.len(), n_strides: strides.len() });
        }
        let n_elements = shape.iter().try_fold(1, |n: usize, size| n.checked_mul(*size));
        // Sizes around a zero may be anything.
        let is_empty = shape.contains(&0);
        let n_elements = if is_empty { 0 } else { n_elements.ok_or(Int64Error::TooLarge)? };
        let last = shape.iter().zip(&strides).try_fold(offset, |last, (size, stride)| {
            last.checked_add(size.saturating_sub(1).checked_mul(*stride)?)
        });
        let n_storage = if is_empty { Some(0) } else { last.and_then(|last| last.checked_add(1)) };
        let n_storage = n_storage.ok_or(Int64Error::TooLarge)?;
        let layout = Self { shape, strides, offset, n_elements, n_storage };
        if layout.has_words() { Ok(layout) } else { Err(Int64Error::TooLarge) }
    }

    /// A tensor whose elements follow each other in row-major order.
    ///
    /// # Errors
    ///
    /// [`Int64Error::TooLarge`] as for [`new`](Self::new).
    pub fn contiguous(shape: impl Into<Vec<usize>>) -> Result<Self, Int64Error> {
        let shape = shape.into();
        let mut strides = vec![1; shape.len()];
        for dim in (1..shape.len()).rev() {
            let step = shape[dim].max(1);
            strides[dim - 1] = usize::checked_mul(strides[dim], step).ok_or(Int64Error::TooLarge)?;
        }
        Self::new(shape, strides, 0)
    }

    /// Returns the size of each dimension.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the distance of neighbours along each dimension.
    #[must_use]
    pub fn strides(&self) -> &[usize] {
        &self.strides
    }

    /// Returns where in the storage the first element is.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the number of elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.n_elements
    }

    /// Says whether there is no element.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.n_elements == 0
    }

    /// Returns how many elements the storage must have; 0 for a tensor without elements.
    #[must_use]
    pub const fn n_storage(&self) -> usize {
        self.n_storage
    }

    /// Says whether the elements follow each other in row-major order; the strides of dimensions
    /// with one element do not matter.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        let dims = self.shape.iter().zip(&self.strides).rev();
        self.is_empty()
            || dims.filter(|(size, _)| **size != 1).all(|(size, stride)| {
                let is_next = *stride == expected;
                expected *= size;
                is_next
            })
    }

    /// Returns where in the storage an element is; `None` outside of the shape. O(dimensions).
    #[must_use]
    pub fn place(&self, index: &[usize]) -> Option<usize> {
        let is_inside =
            index.len() == self.shape.len() && index.iter().zip(&self.shape).all(|(idx, size)| idx < size);
        is_inside.then(|| {
            self.offset + index.iter().zip(&self.strides).map(|(idx, stride)| idx * stride).sum::<usize>()
        })
    }

    /// Returns where in the storage each element is, in row-major order.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        let mut index = vec![0; self.shape.len()];
        let mut next = (!self.is_empty()).then_some(self.offset);
        std::iter::from_fn(move || {
            let place = next?;
            next = self.advance(&mut index, place);
            Some(place)
        })
    }

    /// The place after one, counting the index up; `None` after the last.
    fn advance(&self, index: &mut [usize], mut place: usize) -> Option<usize> {
        for dim in (0..index.len()).rev() {
            index[dim] += 1;
            if index[dim] < self.shape[dim] {
                return Some(place + self.strides[dim]);
            }
            place -= (index[dim] - 1) * self.strides[dim];
            index[dim] = 0;
        }
        None
    }

    /// Checks that a storage is large enough.
    pub(super) fn fits(&self, available: usize) -> Result<(), Int64Error> {
        if self.n_storage <= available {
            return Ok(());
        }
        Err(Int64Error::Storage { needed: self.n_storage, available })
    }

    /// Whether everything can be doubled.
    fn has_words(&self) -> bool {
        let all = [self.offset, self.n_elements, self.n_storage];
        let sizes = all.iter().chain(&self.shape).chain(&self.strides);
        sizes.copied().all(|size| size.checked_mul(2).is_some())
    }
}

/// Layouts made from one that holds already: nothing here can overflow.
impl TensorLayout {
    pub(super) fn of_words(shape: Vec<usize>, strides: Vec<usize>, values: &Self) -> Self {
        Self {
            shape,
            strides,
            offset: values.offset * 2,
            n_elements: values.n_elements * 2,
            n_storage: values.n_storage * 2,
        }
    }

    pub(super) fn of_values(shape: Vec<usize>, strides: Vec<usize>, words: &Self) -> Self {
        Self {
            shape,
            strides,
            offset: words.offset / 2,
            n_elements: words.n_elements / 2,
            n_storage: words.n_storage / 2,
        }
    }
}
