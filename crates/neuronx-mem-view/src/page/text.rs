//! Texts of the input as they may be shown: without letters that act, and of bounded length. Counts
//! what it cut.

use std::fmt::Write as _;

/// Longest text, bytes. No name of a function or a file is longer on purpose.
const MAX_TEXT_BYTES: usize = 600;

/// Makes texts fit to be shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shown {
    /// Texts that were cut.
    pub(super) n_cut: u64,
}

impl Shown {
    /// Control letters and those that turn the direction of writing become their numbers; a text that is
    /// too long is cut and says how long it was.
    pub(super) fn text(&mut self, text: &str) -> String {
        let mut shown = String::new();
        for letter in text.chars() {
            if shown.len() >= MAX_TEXT_BYTES {
                self.n_cut += 1;
                // Writing into a String does not fail.
                let _ = write!(shown, "… [cut: {} bytes in all]", text.len());
                break;
            }
            if acts(letter) {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(letter));
            } else {
                shown.push(letter);
            }
        }
        shown
    }
}

/// Letters that are not seen but change what is seen.
fn acts(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        )
}
