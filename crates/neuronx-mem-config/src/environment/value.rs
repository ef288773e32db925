//! One value, read and checked.
//!
//! Knows the shapes. Refuses to know which variable it belongs to.

use std::fmt;
use std::path::PathBuf;

use crate::allocator::quote_up_to;

/// The longest printed form, in characters, before the ellipsis.
const MAX_PRINTED: usize = 1024;

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// On or off.
    Bool(bool),
    /// A whole number, in the unit of the variable.
    Int(u64),
    /// A text, a word, or the keys of the allocator.
    Text(String),
    /// A path, as the operating system holds it.
    Path(PathBuf),
    /// The accepted items, trimmed, in the order of the text.
    List(Vec<String>),
    /// Nothing is set, and what holds is not known here.
    Unknown,
}

impl fmt::Display for Value {
    /// Prints one line that could be exported again: `1`, `512`, `0,1,2-5`; control characters are
    /// escaped, and more than 1024 characters cut. An unknown value prints as nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(on) => f.pad(if *on { "1" } else { "0" }),
            Self::Int(number) => number.fmt(f),
            Self::Text(text) => f.pad(&quote_up_to(text, MAX_PRINTED)),
            Self::Path(path) => f.pad(&quote_up_to(&path.to_string_lossy(), MAX_PRINTED)),
            Self::List(items) => f.pad(&quote_up_to(&items.join(","), MAX_PRINTED)),
            Self::Unknown => f.pad(""),
        }
    }
}
