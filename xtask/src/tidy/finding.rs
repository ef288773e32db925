//! One finding of `tidy`: where, and what is wrong.

use std::fmt;

/// A rule that a line breaks. Sorts by path, then line, then message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Finding {
    /// The file below the workspace root.
    pub(super) path: String,
    /// The line, counted from 1.
    pub(super) line: usize,
    /// What is wrong, and what would be right.
    pub(super) message: String,
}

impl Finding {
    /// A finding on a line counted from 1.
    pub(super) fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.message)
    }
}
