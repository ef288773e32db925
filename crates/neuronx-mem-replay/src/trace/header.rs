//! The lines that start with `#`. Keeps keys and values as they are; knows no key.

/// How many headers a reader keeps; later ones are read over.
pub const MAX_HEADERS: usize = 64;

/// One header: `# key: value` or `# key=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Its key, without white space.
    pub key: String,
    /// All that follows the first `:` or `=`, trimmed.
    pub value: String,
}

impl Header {
    /// Reads what follows the `#`; `None` for a comment that has no key.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (key, value) = text.split_once([':', '='])?;
        let key = key.trim();
        let is_key = !key.is_empty() && !key.contains(char::is_whitespace);
        is_key.then(|| Self { key: key.to_owned(), value: value.trim().to_owned() })
    }
}
