//! Names and places of files: `ab/cd/<key>.neff`, with its seals and unfinished files beside it.
//!
//! Knows names. Refuses to open anything.

use std::path::{Path, PathBuf};

use super::EntryKind;
use super::seal::{self, Seal};
use crate::CacheKey;

/// Start of the names of files that are being written.
pub(crate) const UNFINISHED_PREFIX: &str = ".tmp.";

/// Digits of the key in each of the two directory levels.
const N_SHARD_DIGITS: usize = 2;

/// What the name of a file in a shard says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileName {
    Entry(CacheKey),
    Seal(CacheKey, Seal),
    Unfinished,
    /// Not of this store.
    Foreign,
}

impl FileName {
    pub(crate) fn read(name: &str, kind: EntryKind) -> Self {
        if name.starts_with(UNFINISHED_PREFIX) {
            return Self::Unfinished;
        }
        let parts = name.split_once('.').and_then(|(key, rest)| Some((key.parse().ok()?, rest)));
        let Some((key, rest)) = parts else {
            return Self::Foreign;
        };
        if rest == kind.extension() {
            return Self::Entry(key);
        }
        let seal = rest.split_once('.').filter(|(_, extension)| *extension == seal::EXTENSION);
        seal.and_then(|(seal, _)| seal.parse().ok()).map_or(Self::Foreign, |seal| Self::Seal(key, seal))
    }
}

/// The directory of a key.
pub(crate) fn shard(root: &Path, key: CacheKey) -> PathBuf {
    let digits = key.to_string();
    let (first, rest) = digits.split_at(N_SHARD_DIGITS);
    root.join(first).join(&rest[..N_SHARD_DIGITS])
}

pub(crate) fn entry_name(key: CacheKey, kind: EntryKind) -> String {
    format!("{key}.{}", kind.extension())
}

pub(crate) fn seal_name(key: CacheKey, seal: Seal) -> String {
    format!("{key}.{seal}.{}", seal::EXTENSION)
}

/// Whether a directory of this name belongs to a level of shards.
pub(crate) fn is_shard_name(name: &str) -> bool {
    name.len() == N_SHARD_DIGITS
        && name.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}
