//! Seals: empty files whose names say which bytes a key has had, written before the bytes appear.
//!
//! An entry is one rename away from its readers and two files cannot be renamed as one, so a file
//! beside it that holds *the* checksum would be wrong for a moment at every overwrite, and for ever
//! after a crash in that moment. A seal is a fact that stays true: "this key was given bytes of this
//! length and hash". Any number of writers add theirs; a reader looks for the one of the bytes it
//! has read. Old seals are swept by the collection (`gc`).

use std::fmt;
use std::str::FromStr;

use crate::key::{hash, parse_digits};

/// Extension of a seal's file, without the dot.
pub(crate) const EXTENSION: &str = "seal";

/// Length and hash of an entry's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seal {
    pub(crate) length_bytes: u64,
    hash: u128,
}

impl Seal {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { length_bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX), hash: hash(bytes) }
    }
}

impl fmt::Display for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:032x}", self.length_bytes, self.hash)
    }
}

impl FromStr for Seal {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (length, hash) = text.split_once('-').ok_or(())?;
        let seal =
            Self { length_bytes: length.parse().map_err(|_| ())?, hash: parse_digits(hash).ok_or(())? };
        // One name for one seal: no plus sign, no leading zeros.
        if seal.to_string() == text { Ok(seal) } else { Err(()) }
    }
}
