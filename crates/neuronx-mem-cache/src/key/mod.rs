//! Names of entries: a hash of what they were made from.
//!
//! Knows the form of a key. Refuses to know what is hashed; that is for [`KeyBuilder`].

mod builder;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use twox_hash::XxHash3_128;

pub use builder::KeyBuilder;

/// A 128-bit key, printed as 32 lower-case hexadecimal digits, high half first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheKey(u128);

impl CacheKey {
    /// Digits of a printed key.
    pub const N_DIGITS: usize = 32;

    /// Hashes bytes with XXH3-128. No bytes at all give the key of 32 zeros.
    ///
    /// ```
    /// use neuronx_mem_cache::CacheKey;
    ///
    /// assert_eq!(CacheKey::of_bytes(b"abc").to_string(), "06b05ab6733a618578af5f94892f3950");
    /// assert_eq!(CacheKey::of_bytes(b"").to_string(), "0".repeat(32));
    /// ```
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        if bytes.is_empty() { Self(0) } else { Self(hash(bytes)) }
    }

    /// The key of this number.
    #[must_use]
    pub const fn from_number(number: u128) -> Self {
        Self(number)
    }

    /// The key as a number.
    #[must_use]
    pub const fn number(self) -> u128 {
        self.0
    }
}

impl fmt::Display for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CacheKey({self})")
    }
}

/// A text that is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key is 32 lower-case hexadecimal digits, not {n_bytes} bytes of other text")]
#[non_exhaustive]
pub struct ParseKeyError {
    /// Length of the text in bytes.
    pub n_bytes: usize,
}

impl FromStr for CacheKey {
    type Err = ParseKeyError;

    /// Reads a printed key; nothing else, as a file name has to name one entry only.
    fn from_str(text: &str) -> Result<Self, ParseKeyError> {
        parse_digits(text).map(Self).ok_or(ParseKeyError { n_bytes: text.len() })
    }
}

/// XXH3-128 of the bytes.
pub(crate) fn hash(bytes: &[u8]) -> u128 {
    XxHash3_128::oneshot(bytes)
}

/// 32 lower-case hexadecimal digits as a number.
pub(crate) fn parse_digits(text: &str) -> Option<u128> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != CacheKey::N_DIGITS || !text.bytes().all(is_digit) {
        return None;
    }
    u128::from_str_radix(text, 16).ok()
}
