//! What the text of a variable may be.
//!
//! Knows types, ranges and allowed words. Reading a text is in `parse`.

use std::fmt;

/// The type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// On or off.
    Bool(BoolRule),
    /// A whole number that is not negative.
    Int(IntRange),
    /// Any text.
    Text,
    /// A path, which need not be Unicode.
    Path,
    /// One of these words, spelled exactly so.
    Choice(&'static [&'static str]),
    /// Items with commas between them.
    List(Items),
    /// The `key=value` list of [`AllocatorConfig`](crate::AllocatorConfig).
    AllocatorKeys,
}

/// Which texts switch a variable on and off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BoolRule {
    /// `1`, `true`, `on`, `yes` and `0`, `false`, `off`, `no` in any case; the pages are silent.
    Words,
    /// `0` and `1` only; the page says so.
    ZeroOrOne,
    /// `1` is on and every other text, even an empty one, is off; the page says so.
    OnlyOneEnables,
}

/// Which whole numbers a variable accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct IntRange {
    /// The smallest accepted number.
    pub minimum: u64,
    /// The largest accepted number, inclusive.
    pub maximum: u64,
    /// Accepted numbers are multiples of this one; 1 for all, never 0.
    pub multiple_of: u64,
}

impl IntRange {
    /// All numbers between two, both inclusive.
    pub(super) const fn between(minimum: u64, maximum: u64) -> Self {
        Self { minimum, maximum, multiple_of: 1 }
    }

    /// The multiples of a number, which is not zero, between two, both inclusive.
    pub(super) const fn multiples(multiple_of: u64, minimum: u64, maximum: u64) -> Self {
        Self { minimum, maximum, multiple_of }
    }
}

/// What the items of a list are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Items {
    /// Each is one of these words; others are dropped.
    Words(&'static [&'static str]),
    /// Each should be one of these words; others are kept with a note.
    OpenWords(&'static [&'static str]),
    /// Whole numbers up to this one, inclusive.
    Numbers(u32),
    /// Whole numbers up to this one, inclusive, and ranges of them such as `2-5`.
    Ranges(u32),
}

impl Kind {
    /// Returns the name of the type: `bool`, `int`, `str`, `path`, `choice`, `list` or `keys`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Text => "str",
            Self::Path => "path",
            Self::Choice(_) => "choice",
            Self::List(_) => "list",
            Self::AllocatorKeys => "keys",
        }
    }

    /// Returns the words that a value or an item can be, when they are a closed or a known list.
    pub const fn words(self) -> &'static [&'static str] {
        match self {
            Self::Choice(words) | Self::List(Items::Words(words) | Items::OpenWords(words)) => words,
            _ => &[],
        }
    }
}

impl fmt::Display for Kind {
    /// Prints what is accepted, in words: `0 or 1`, `0 to 3`, `a path`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(BoolRule::Words) => f.write_str("a switch"),
            Self::Bool(BoolRule::ZeroOrOne) => f.write_str("0 or 1 only"),
            Self::Bool(BoolRule::OnlyOneEnables) => f.write_str("1 is on, anything else is off"),
            Self::Int(range) => range.fmt(f),
            Self::Text => f.write_str("any text"),
            Self::Path => f.write_str("a path"),
            Self::Choice(words) => f.write_str(&words.join(", ")),
            Self::List(Items::Words(words) | Items::OpenWords(words)) => {
                write!(f, "a comma-separated list of {}", words.join(", "))
            }
            Self::List(Items::Numbers(_)) => f.write_str("a comma-separated list of numbers"),
            Self::List(Items::Ranges(maximum)) => {
                write!(f, "a comma-separated list of numbers and ranges up to {maximum}, such as 0,1,2-5")
            }
            Self::AllocatorKeys => f.write_str("key=value,key=value"),
        }
    }
}

impl fmt::Display for IntRange {
    /// Prints `0 to 3`, `1 or more` or `512 to 3584 in steps of 512`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.maximum {
            u64::MAX => write!(f, "{} or more", self.minimum)?,
            maximum => write!(f, "{} to {maximum}", self.minimum)?,
        }
        match self.multiple_of {
            1 => Ok(()),
            step => write!(f, " in steps of {step}"),
        }
    }
}
