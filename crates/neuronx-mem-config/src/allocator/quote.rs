//! Text from outside, made fit to stand in a one-line message.
//!
//! Knows how to shorten and escape. Refuses to let a control character, a line break or a
//! direction mark through.

/// The longest quotation, in characters, before the ellipsis.
const MAX_CHARS: usize = 64;

/// Escapes what does not print and cuts after 64 characters, then adds `…`. Cost: O(64).
pub(crate) fn quote(text: &str) -> String {
    quote_up_to(text, MAX_CHARS)
}

/// As [`quote`], cut after another number of characters.
pub(crate) fn quote_up_to(text: &str, max_chars: usize) -> String {
    let mut quoted = String::new();
    let mut length = 0;
    for char in text.chars() {
        let escaped = char.escape_debug();
        length += escaped.len();
        if length > max_chars {
            quoted.push('…');
            break;
        }
        quoted.extend(escaped);
    }
    quoted
}
