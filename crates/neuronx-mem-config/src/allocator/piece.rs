//! A part of the parsed text that remembers where it stands.
//!
//! Knows byte offsets. Refuses to copy.

use std::ops::Range;

/// A slice of the parsed text and the byte at which it starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'text> {
    pub(super) text: &'text str,
    start: usize,
}

impl<'text> Piece<'text> {
    pub(super) fn whole(text: &'text str) -> Self {
        Self { text, start: 0 }
    }

    pub(super) fn position(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// The piece without white space at its ends, Unicode's included.
    pub(super) fn trim(self) -> Self {
        let text = self.text.trim_start();
        let start = self.start + (self.text.len() - text.len());
        Self { text: text.trim_end(), start }
    }

    /// What stands before and after the first separator, which is one byte long.
    pub(super) fn split_once(self, separator: u8) -> Option<(Self, Self)> {
        let (before, after) = self.text.split_once(char::from(separator))?;
        let after = Self { text: after, start: self.start + before.len() + 1 };
        Some((Self { text: before, start: self.start }, after))
    }
}
