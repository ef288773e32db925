//! The same memory as values and as words.

use bytemuck::{cast_slice, cast_slice_mut, try_cast_slice, try_cast_slice_mut};

use crate::Int64Error;

#[cfg(target_endian = "big")]
compile_error!("the packed view has the low word first, which is the order of little-endian machines only");

/// Returns values as words, two for each, the low one first: O(1), no copy.
///
/// ```
/// use neuronx_mem_int64::{as_values, as_words};
///
/// let words = as_words(&[5, -1, 1 << 32]);
/// assert_eq!(words, [5, 0, -1, -1, 0, 1]);
/// assert_eq!(as_values(words)?, [5, -1, 1 << 32]);
/// # Ok::<(), neuronx_mem_int64::Int64Error>(())
/// ```
#[must_use]
pub fn as_words(values: &[i64]) -> &[i32] {
    cast_slice(values)
}

/// Returns values as words that can be written: O(1), no copy.
#[must_use]
pub fn as_words_mut(values: &mut [i64]) -> &mut [i32] {
    cast_slice_mut(values)
}

/// Returns words as the values that they are: O(1), no copy.
///
/// # Errors
///
/// [`Int64Error::NotPairs`] for an odd number of words, or words whose address is none of a 64-bit
/// value.
pub fn as_values(words: &[i32]) -> Result<&[i64], Int64Error> {
    try_cast_slice(words).map_err(|_| Int64Error::NotPairs { n_words: words.len() })
}

/// Returns words as values that can be written: O(1), no copy.
///
/// # Errors
///
/// As [`as_values`].
pub fn as_values_mut(words: &mut [i32]) -> Result<&mut [i64], Int64Error> {
    let n_words = words.len();
    try_cast_slice_mut(words).map_err(|_| Int64Error::NotPairs { n_words })
}
