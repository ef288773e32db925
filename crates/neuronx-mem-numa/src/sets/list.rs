//! The list format of Linux: `0-2,4,6-7`.
//!
//! Knows what the kernel and `neuron-ls` print. Refuses what they never would: a number twice, a range
//! from high to low, an empty item. Strides (`0-31:2/4`) are input of the kernel only, and refused too.

use std::fmt;
use std::str::FromStr;

use super::{IndexSet, SetIndex};

/// The longest part of a bad item that a message repeats, in characters.
const MAX_QUOTED: usize = 40;

/// A text that is no list of CPUs or nodes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{noun} list: `{item}` {problem}")]
pub struct ListError {
    /// What was listed: `cpu` or `node`.
    pub noun: &'static str,
    /// The first bad item, at most 40 characters of it.
    pub item: String,
    /// What is wrong with it.
    pub problem: ListProblem,
}

/// What can be wrong with an item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListProblem {
    /// Nothing between two commas.
    Empty,
    /// Something else than decimal digits.
    NotANumber,
    /// Larger than any that Linux can be built for.
    TooLarge {
        /// The largest.
        maximum: u32,
    },
    /// From high to low.
    Reversed,
    /// An index that was named before.
    Overlap {
        /// The smallest such index.
        index: u32,
    },
}

impl fmt::Display for ListProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("is an empty item"),
            Self::NotANumber => f.write_str("is not a number or a range in decimal digits"),
            Self::TooLarge { maximum } => write!(f, "is above {maximum}"),
            Self::Reversed => f.write_str("is a range from high to low"),
            Self::Overlap { index } => write!(f, "repeats {index}, which an earlier item has"),
        }
    }
}

impl<T: SetIndex> FromStr for IndexSet<T> {
    type Err = ListError;

    /// Reads a list, in any order and with blanks around numbers; a blank text is the empty set.
    ///
    /// # Errors
    ///
    /// [`ListError`] for the first item that is empty, no number, too large, reversed, or that has an
    /// index of an earlier one.
    fn from_str(text: &str) -> Result<Self, ListError> {
        let mut set = Self::new();
        if text.trim().is_empty() {
            return Ok(set);
        }
        for item in text.split(',').map(str::trim) {
            let refused = |problem| ListError { noun: T::NOUN, item: quoted(item), problem };
            let (first, last) = range::<T>(item).map_err(refused)?;
            for number in first..=last {
                let index = T::of_number(number);
                if set.contains(index) {
                    return Err(refused(ListProblem::Overlap { index: number }));
                }
                set.insert(index);
            }
        }
        Ok(set)
    }
}

/// First and last number of `7` or `2-5`.
fn range<T: SetIndex>(item: &str) -> Result<(u32, u32), ListProblem> {
    if item.is_empty() {
        return Err(ListProblem::Empty);
    }
    let (first, last) = item.split_once('-').unwrap_or((item, item));
    let (first, last) = (number::<T>(first.trim())?, number::<T>(last.trim())?);
    if first > last { Err(ListProblem::Reversed) } else { Ok((first, last)) }
}

/// Digits only: `+1`, which Rust would read, is no number of a list.
fn number<T: SetIndex>(text: &str) -> Result<u32, ListProblem> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ListProblem::NotANumber);
    }
    // More digits than a u32 has are too many for any maximum.
    let number = text.parse().ok().filter(|number| *number <= T::MAX);
    number.ok_or(ListProblem::TooLarge { maximum: T::MAX })
}

/// On one line, and short.
fn quoted(item: &str) -> String {
    let shown: String = item.chars().take(MAX_QUOTED).flat_map(char::escape_debug).collect();
    if item.chars().count() > MAX_QUOTED { shown + "…" } else { shown }
}
