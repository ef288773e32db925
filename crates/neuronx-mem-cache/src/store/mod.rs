//! The content-addressed store: whole files under keys, in one directory or over read-only ones.
//!
//! Knows where an entry is and whether it is whole. Refuses to lock: two writers of one key are
//! harmless, the last one stays.

mod kind;
mod lookup;
pub(crate) mod place;
mod read;
pub(crate) mod seal;
#[cfg(test)]
mod tests;
pub(crate) mod walk;
pub(crate) mod write;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub use kind::{Durability, EntryKind};
pub use lookup::{Entry, Layer, Lookup, MissReason};

use crate::{CacheError, CacheKey};
use place::FileName;
use read::Renew;
use write::Writing;

/// Files younger than this that nobody has finished may still be written.
pub(crate) const DEFAULT_LEFTOVER_AGE: Duration = Duration::from_secs(3600);

/// A directory of entries, with read-only directories behind it.
///
/// Opening one creates nothing; directories appear with the first entry. Cheap to clone, and
/// safe to use from any number of threads and processes, on shared mounts too: it needs an atomic
/// rename and no locks.
///
/// ```
/// use neuronx_mem_cache::{CacheKey, EntryKind, Store};
///
/// # let directory = tempfile::tempdir()?;
/// let store = Store::open(directory.path(), EntryKind::Neff);
/// let key = CacheKey::of_bytes(b"module {}");
/// store.put(&key, b"NEFF")?;
/// assert_eq!(store.get(&key).map(|entry| entry.bytes), Some(b"NEFF".to_vec()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    shared: Vec<PathBuf>,
    kind: EntryKind,
    durability: Durability,
}

impl Store {
    /// A store in one directory.
    pub fn open(root: impl Into<PathBuf>, kind: EntryKind) -> Self {
        Self { root: root.into(), shared: Vec::new(), kind, durability: Durability::default() }
    }

    /// A store that writes to `local` and also reads `shared`, which it never changes.
    pub fn layered(local: impl Into<PathBuf>, shared: impl Into<PathBuf>, kind: EntryKind) -> Self {
        Self { shared: vec![shared.into()], ..Self::open(local, kind) }
    }

    /// Sets how far a `put` goes.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The directory that is written.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What it keeps.
    #[must_use]
    pub const fn kind(&self) -> EntryKind {
        self.kind
    }

    /// Where the entry of a key is, or would be, written.
    #[must_use]
    pub fn path_of(&self, key: &CacheKey) -> PathBuf {
        place::shard(&self.root, *key).join(place::entry_name(*key, self.kind))
    }

    /// The entry of a key, if there is a good one. Damage is a warning in the log and a miss.
    ///
    /// Reads and hashes the whole file. In the directory that is written, a hit renews the entry's
    /// age (its time of modification) once a minute.
    #[must_use]
    pub fn get(&self, key: &CacheKey) -> Option<Entry> {
        self.lookup(key).entry
    }

    /// The entry of a key, or why there is none.
    #[must_use]
    pub fn lookup(&self, key: &CacheKey) -> Lookup {
        let mut worst: Option<MissReason> = None;
        for (root, layer) in self.layers() {
            let renew = if layer == Layer::Local { Renew::Yes } else { Renew::No };
            match read::read(root, *key, self.kind, renew) {
                Ok((bytes, is_sealed)) => {
                    return Lookup { entry: Some(Entry { bytes, is_sealed, layer }), miss: worst };
                }
                Err(reason) => worst = worse(worst, self.reported(root, key, reason)),
            }
        }
        Lookup { entry: None, miss: worst }
    }

    /// Whether a file with bytes is there, without reading it. One that is damaged counts.
    #[must_use]
    pub fn exists(&self, key: &CacheKey) -> bool {
        let has_bytes = |(root, _): (&Path, Layer)| {
            let path = place::shard(root, *key).join(place::entry_name(*key, self.kind));
            path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0)
        };
        self.layers().any(has_bytes)
    }

    /// Stores bytes under a key, in place of those that were there. Readers see the old bytes or
    /// the new ones, and the old ones stay when anything fails.
    ///
    /// # Errors
    ///
    /// [`CacheError::EmptyEntry`], [`CacheError::StorageFull`], [`CacheError::NotWritable`] or
    /// [`CacheError::Io`].
    pub fn put(&self, key: &CacheKey, bytes: &[u8]) -> Result<(), CacheError> {
        let Self { root, kind, durability, .. } = self;
        Writing { root, key: *key, kind: *kind, durability: *durability, bytes }.put()
    }

    /// Removes an entry from the directory that is written; read-only directories keep theirs.
    /// True when there was one.
    ///
    /// # Errors
    ///
    /// [`CacheError::NotWritable`] or [`CacheError::Io`].
    pub fn remove(&self, key: &CacheKey) -> Result<bool, CacheError> {
        write::remove(&self.root, *key, self.kind)
    }

    /// Removes every entry from the directory that is written, its seals, what writers left behind
    /// more than an hour ago, and the directories that this empties. Other files stay. Returns the
    /// number of entries removed.
    ///
    /// # Errors
    ///
    /// The first failure; everything that could be removed is gone even then.
    pub fn clear(&self) -> Result<u64, CacheError> {
        let mut n_removed = 0;
        let mut failure = None;
        let oldest = SystemTime::now().checked_sub(DEFAULT_LEFTOVER_AGE);
        walk::each_shard(&self.root, self.kind, &mut |_, files| {
            for file in files {
                let is_ours = match file.name {
                    FileName::Entry(_) | FileName::Seal(..) => true,
                    FileName::Unfinished => file.metadata.modified().ok() < oldest,
                    FileName::Foreign => false,
                };
                match is_ours.then(|| write::remove_file(&file.path)) {
                    Some(Ok(true)) if matches!(file.name, FileName::Entry(_)) => n_removed += 1,
                    Some(Err(error)) => _ = failure.get_or_insert(error),
                    _ => {}
                }
            }
        })?;
        failure.map_or(Ok(n_removed), Err)
    }

    fn layers(&self) -> impl Iterator<Item = (&Path, Layer)> {
        let shared = self.shared.iter().enumerate().map(|(idx, root)| (root.as_path(), Layer::Shared(idx)));
        std::iter::once((self.root.as_path(), Layer::Local)).chain(shared)
    }

    fn reported(&self, root: &Path, key: &CacheKey, reason: MissReason) -> MissReason {
        if reason != MissReason::Absent {
            let path = place::shard(root, *key).join(place::entry_name(*key, self.kind));
            tracing::warn!(path = %path.display(), %reason, "a cache entry counts as missing");
        }
        reason
    }
}

/// Damage counts more than what is merely not there; of two alike the first stays.
fn worse(so_far: Option<MissReason>, reason: MissReason) -> Option<MissReason> {
    let rank = |reason: &MissReason| match reason {
        MissReason::Absent => 0,
        MissReason::Empty => 1,
        MissReason::Unreadable { .. } => 2,
        MissReason::Corrupt { .. } => 3,
    };
    match so_far {
        Some(worst) if rank(&worst) >= rank(&reason) => Some(worst),
        _ => Some(reason),
    }
}
