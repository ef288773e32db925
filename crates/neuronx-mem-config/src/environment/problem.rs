//! Why a text is not a value.
//!
//! Knows the reasons, with their limits. The text itself is in the finding that carries the reason.

use std::fmt;

use super::kind::IntRange;

/// The reason for which a text, or one item of it, is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueProblem {
    /// The bytes are not UTF-8.
    NotUnicode,
    /// It contains a NUL byte, which no path can have.
    Nul,
    /// It is none of the words of a switch.
    NotSwitch,
    /// The page accepts `0` and `1` only.
    NotZeroOrOne,
    /// It is not a whole number in decimal digits, or is beyond 64 bits.
    NotWholeNumber,
    /// The number lies outside what is accepted.
    OutOfRange(IntRange),
    /// It is none of these words.
    NotOneOf {
        /// The words.
        words: &'static [&'static str],
        /// The word with the most similar spelling, when one is near enough.
        nearest: Option<&'static str>,
    },
    /// Nothing stands between two commas.
    EmptyItem,
    /// The first number of a range is larger than the second.
    ReversedRange,
    /// It is a range where only single numbers are accepted.
    RangeNotAccepted,
}

impl fmt::Display for ValueProblem {
    /// Prints the rest of a sentence that starts with the text: `is not a switch`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUnicode => f.write_str("is not valid UTF-8"),
            Self::Nul => f.write_str("contains a NUL byte"),
            Self::NotSwitch => f.write_str("is neither on (1, true, on, yes) nor off (0, false, off, no)"),
            Self::NotZeroOrOne => f.write_str("is neither 0 nor 1, and nothing else is accepted"),
            Self::NotWholeNumber => f.write_str("is not a whole number in decimal digits"),
            Self::OutOfRange(range) => write!(f, "is not in {range}"),
            Self::NotOneOf { words, nearest } => {
                write!(f, "is none of {}", words.join(", "))?;
                nearest.map_or(Ok(()), |word| write!(f, " (did you mean `{word}`?)"))
            }
            Self::EmptyItem => f.write_str("is an empty item"),
            Self::ReversedRange => f.write_str("is a range from high to low"),
            Self::RangeNotAccepted => f.write_str("is a range, and only single numbers are accepted"),
        }
    }
}
