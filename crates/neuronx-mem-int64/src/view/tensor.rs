//! Tensors over slices: values and words of the same memory.

use super::{PackedLayout, TensorLayout, Word, as_values, as_words};
use crate::Int64Error;
use crate::kernels::{Outside, Scan, scan};

/// A tensor of 64-bit integers over a slice that holds its storage.
///
/// ```
/// use neuronx_mem_int64::{TensorLayout, TensorRef};
///
/// let storage = [1, 2, 3, 4, 5, 6];
/// let transposed = TensorRef::new(&storage, TensorLayout::new([3, 2], [1, 3], 0)?)?;
/// let packed = transposed.packed();
/// assert_eq!(packed.get(&[2, 1]), Some(6));
/// assert_eq!(packed.unpack()?, transposed);
/// # Ok::<(), neuronx_mem_int64::Int64Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorRef<'a> {
    storage: &'a [i64],
    layout: TensorLayout,
}

impl<'a> TensorRef<'a> {
    /// Puts a tensor together.
    ///
    /// # Errors
    ///
    /// [`Int64Error::Storage`] when the layout reaches beyond the storage.
    pub fn new(storage: &'a [i64], layout: TensorLayout) -> Result<Self, Int64Error> {
        layout.fits(storage.len())?;
        Ok(Self { storage, layout })
    }

    /// Returns its layout.
    #[must_use]
    pub const fn layout(&self) -> &TensorLayout {
        &self.layout
    }

    /// Returns one element; `None` outside of the shape.
    #[must_use]
    pub fn get(&self, index: &[usize]) -> Option<i64> {
        self.storage.get(self.layout.place(index)?).copied()
    }

    /// Returns the elements in row-major order.
    pub fn iter(&self) -> impl Iterator<Item = i64> {
        self.layout.places().map(|place| self.storage[place])
    }

    /// Returns the tensor as words: no copy.
    #[must_use]
    pub fn packed(&self) -> PackedRef<'a> {
        PackedRef { words: as_words(self.storage), layout: PackedLayout::of(&self.layout) }
    }

    /// Looks for elements outside `int32`; the index of the first counts in row-major order. An element
    /// that the layout repeats counts each time. O(elements), at the speed of memory where they are
    /// contiguous.
    #[must_use]
    pub fn scan(&self) -> Scan {
        if self.layout.is_contiguous() {
            let start = self.layout.offset();
            return self.storage.get(start..start + self.layout.len()).map_or_else(Scan::default, scan);
        }
        let mut found = Scan::default();
        for (index, value) in self.iter().enumerate() {
            if i32::try_from(value).is_err() {
                found.count += 1;
                found.first = found.first.or(Some(Outside { index, value }));
            }
        }
        found
    }
}

/// A tensor of 64-bit integers as words, over a slice that holds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedRef<'a> {
    words: &'a [i32],
    layout: PackedLayout,
}

impl<'a> PackedRef<'a> {
    /// Puts a packed tensor together.
    ///
    /// # Errors
    ///
    /// [`Int64Error::Storage`] when the layout reaches beyond the words.
    pub fn new(words: &'a [i32], layout: PackedLayout) -> Result<Self, Int64Error> {
        layout.words().fits(words.len())?;
        Ok(Self { words, layout })
    }

    /// Returns its layout.
    #[must_use]
    pub const fn layout(&self) -> &PackedLayout {
        &self.layout
    }

    /// Returns one word of an element; `None` outside of the shape.
    #[must_use]
    pub fn word(&self, index: &[usize], word: Word) -> Option<i32> {
        self.words.get(self.layout.place(index, word)?).copied()
    }

    /// Returns an element, put together from both words; `None` outside of the shape.
    #[must_use]
    pub fn get(&self, index: &[usize]) -> Option<i64> {
        let (low, high) = (self.word(index, Word::Low)?, self.word(index, Word::High)?);
        Some(i64::from(high) << 32 | i64::from(low.cast_unsigned()))
    }

    /// Returns the tensor of values: no copy.
    ///
    /// # Errors
    ///
    /// [`Int64Error::NotPairs`] when the words do not start at an address of a 64-bit value, or are
    /// odd in number.
    pub fn unpack(&self) -> Result<TensorRef<'a>, Int64Error> {
        TensorRef::new(as_values(self.words)?, self.layout.unpack())
    }
}
