//! From the layout of values to the layout of words, and back.

use super::TensorLayout;
use crate::Int64Error;

/// Which of the two words of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a value has two words")]
pub enum Word {
    /// The low 32 bits: the one that packed arithmetic uses.
    Low = 0,
    /// The high 32 bits.
    High = 1,
}

/// Where in the shape the two words of a value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PackedForm {
    /// A tensor without dimensions became one with a dimension of two.
    Scalar,
    /// The last dimension has twice the size: what `view(torch.int32)` gives.
    LastDoubled,
    /// A dimension of two was put behind the last one, because the elements of that one are no
    /// neighbours: a transpose, a step, an expanded dimension.
    PairAppended,
}

/// The layout of a tensor of 64-bit integers as one of words, from which the first can be had back.
///
/// Follows the executor of native TorchNeuron (2026-04), which doubles the last dimension and gives a
/// tensor without dimensions one first; and aws-neuron-sdk issue 785, where the way back was lost.
///
/// ```
/// use neuronx_mem_int64::{PackedForm, PackedLayout, TensorLayout};
///
/// let rows = TensorLayout::contiguous([2, 3])?;
/// let packed = PackedLayout::of(&rows);
/// assert_eq!((packed.words().shape(), packed.words().strides()), (&[2, 6][..], &[6, 1][..]));
///
/// let transposed = TensorLayout::new([3, 2], [1, 3], 0)?;
/// let packed = PackedLayout::of(&transposed);
/// assert_eq!(packed.form(), PackedForm::PairAppended);
/// assert_eq!((packed.words().shape(), packed.words().strides()), (&[3, 2, 2][..], &[2, 6, 1][..]));
/// assert_eq!(packed.unpack(), transposed);
/// # Ok::<(), neuronx_mem_int64::Int64Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PackedLayout {
    words: TensorLayout,
    form: PackedForm,
}

impl PackedLayout {
    /// Returns the layout of the words: O(dimensions). A layout that exists has one.
    #[must_use]
    pub fn of(values: &TensorLayout) -> Self {
        let (mut shape, mut strides) = (values.shape().to_vec(), values.strides().to_vec());
        strides.iter_mut().for_each(|stride| *stride *= 2);
        let form = match (shape.last_mut(), strides.last_mut()) {
            (Some(size), Some(stride)) if *stride == 2 => {
                *size *= 2;
                *stride = 1;
                PackedForm::LastDoubled
            }
            (last, _) => {
                let form = if last.is_some() { PackedForm::PairAppended } else { PackedForm::Scalar };
                shape.push(2);
                strides.push(1);
                form
            }
        };
        Self { words: TensorLayout::of_words(shape, strides, values), form }
    }

    /// Takes the layout of words that came from elsewhere, such as an operator's result.
    ///
    /// # Errors
    ///
    /// [`Int64Error::NotPairs`] when it is none that this form gives: a last dimension that is odd or
    /// has another stride than 1, another offset or stride that is odd.
    pub fn from_words(words: TensorLayout, form: PackedForm) -> Result<Self, Int64Error> {
        let is_even = |number: &usize| number.is_multiple_of(2);
        let outer = words.strides().len().saturating_sub(1);
        let is_pairs = words.strides().last() == Some(&1)
            && words.strides()[..outer].iter().all(is_even)
            && is_even(&words.offset())
            && match (form, words.shape()) {
                (PackedForm::Scalar, shape) => shape == [2],
                (PackedForm::LastDoubled, [.., last]) => is_even(last),
                // Neighbours would have been doubled.
                (PackedForm::PairAppended, [_, .., 2]) => words.strides()[outer - 1] != 2,
                _ => false,
            };
        if is_pairs { Ok(Self { words, form }) } else { Err(Int64Error::NotPairs { n_words: words.len() }) }
    }

    /// Returns the layout of the words, in words.
    #[must_use]
    pub const fn words(&self) -> &TensorLayout {
        &self.words
    }

    /// Returns where the two words of a value are.
    #[must_use]
    pub const fn form(&self) -> PackedForm {
        self.form
    }

    /// Returns the layout of the values, exactly as it was: O(dimensions).
    #[must_use]
    pub fn unpack(&self) -> TensorLayout {
        let (mut shape, mut strides) = (self.words.shape().to_vec(), self.words.strides().to_vec());
        match self.form {
            PackedForm::LastDoubled => {
                if let (Some(size), Some(stride)) = (shape.last_mut(), strides.last_mut()) {
                    *size /= 2;
                    *stride = 2;
                }
            }
            PackedForm::Scalar | PackedForm::PairAppended => {
                shape.pop();
                strides.pop();
            }
        }
        strides.iter_mut().for_each(|stride| *stride /= 2);
        TensorLayout::of_values(shape, strides, &self.words)
    }

    /// Returns where in the storage a word of an element is; `None` outside of the shape of the
    /// values. O(dimensions).
    #[must_use]
    pub fn place(&self, index: &[usize], word: Word) -> Option<usize> {
        let mut index = index.to_vec();
        match (self.form, index.last_mut()) {
            (PackedForm::LastDoubled, Some(last)) => {
                *last = last.checked_mul(2)?.checked_add(word as usize)?
            }
            (PackedForm::LastDoubled, None) => return None,
            _ => index.push(word as usize),
        }
        self.words.place(&index)
    }
}
