//! Low words out of values, and values out of low words.

use crate::arithmetic::low_word;
use crate::{Int64Error, Operand};

/// Copies the low words of values: what packed arithmetic sees of them. O(n), without allocation.
///
/// ```
/// use neuronx_mem_int64::kernels::copy_low_words;
///
/// let mut words = [0; 3];
/// copy_low_words(&[7, -1, (1 << 32) + 5], &mut words)?;
/// assert_eq!(words, [7, -1, 5]);
/// # Ok::<(), neuronx_mem_int64::Int64Error>(())
/// ```
///
/// # Errors
///
/// [`Int64Error::Length`] when both sides differ in length; nothing is written then.
pub fn copy_low_words(values: &[i64], words: &mut [i32]) -> Result<(), Int64Error> {
    same_length("copy_low_words", values.len(), words.len())?;
    for (word, value) in words.iter_mut().zip(values) {
        *word = low_word(*value);
    }
    Ok(())
}

/// Widens words to values with the sign of each. O(n), without allocation.
///
/// # Errors
///
/// [`Int64Error::Length`] when both sides differ in length; nothing is written then.
pub fn sign_extend(words: &[i32], values: &mut [i64]) -> Result<(), Int64Error> {
    same_length("sign_extend", words.len(), values.len())?;
    for (value, word) in values.iter_mut().zip(words) {
        *value = i64::from(*word);
    }
    Ok(())
}

/// Cuts each value down to its low word with that word's sign, in place: what is left after a cast to
/// `int32` and back. O(n), without allocation.
pub fn truncate(values: &mut [i64]) {
    for value in values {
        *value = i64::from(low_word(*value));
    }
}

pub(super) fn same_length(operator: &str, expected: usize, actual: usize) -> Result<(), Int64Error> {
    if expected == actual {
        return Ok(());
    }
    Err(Int64Error::Length { operator: operator.to_owned(), operand: Operand::Output, expected, actual })
}
