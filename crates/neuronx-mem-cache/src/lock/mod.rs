//! One process at a time for each key, by lock files in a directory of the machine's own.
//!
//! Knows `flock` and how to wait for it. Refuses to break a lock that is held: on one machine that
//! is always somebody alive, because the kernel ends the locks of the dead. Network file systems
//! give no such promise, which is why the directory has to be local ([`crate::check`] looks).

mod clock;
mod guard;
mod holder;
mod options;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use clock::{Clock, SystemClock};
pub use guard::KeyLock;
pub use holder::{Holder, Presence};
pub use options::{DEFAULT_LOCK_TIMEOUT, LockOptions};

use crate::{CacheError, CacheKey, Operation};

/// Extension of a lock file, without the dot.
const EXTENSION: &str = "lock";

/// Tries to lock a file whose directory is removed at the same time.
const N_TRIES: usize = 16;

/// The lock files of all keys: `locks/<key>.lock` in `TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR`.
///
/// ```
/// use std::time::Duration;
/// use neuronx_mem_cache::{CacheKey, LockDirectory, LockOptions, SystemClock};
///
/// # let local = tempfile::tempdir()?;
/// let locks = LockDirectory::new(local.path());
/// let key = CacheKey::of_bytes(b"module {}");
/// let lock = locks.lock(&key, &LockOptions::default(), &SystemClock::new())?;
/// let at_once = LockOptions::new(Duration::ZERO);
/// assert!(locks.lock(&key, &at_once, &SystemClock::new()).is_err_and(|error| error.is_lock_timeout()));
/// lock.release();
/// assert!(locks.try_lock(&key)?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LockDirectory {
    directory: PathBuf,
}

/// What a look at all lock files shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockSurvey {
    /// Locks that somebody holds.
    pub n_held: u64,
    /// Lock files left by processes that ended without releasing them. They block nobody.
    pub n_stale: u64,
    /// Lock files that cannot be opened or locked.
    pub n_unreadable: u64,
}

/// How a wait ended.
pub(crate) enum Waited<T> {
    Locked(KeyLock, Duration),
    Without(T, Duration),
}

impl LockDirectory {
    /// The locks below this directory, which is created with the first of them.
    pub fn new(local_dir: impl AsRef<Path>) -> Self {
        Self { directory: local_dir.as_ref().join("locks") }
    }

    /// The directory of the lock files.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// The lock file of a key.
    #[must_use]
    pub fn path_of(&self, key: &CacheKey) -> PathBuf {
        self.directory.join(format!("{key}.{EXTENSION}"))
    }

    /// Asks for the lock once; `None` when somebody holds it.
    ///
    /// # Errors
    ///
    /// [`CacheError::NotWritable`], [`CacheError::StorageFull`] or [`CacheError::Io`] where the lock
    /// file cannot be created or the file system has no locks.
    pub fn try_lock(&self, key: &CacheKey) -> Result<Option<KeyLock>, CacheError> {
        let path = self.path_of(key);
        let mut result = KeyLock::attempt(&path);
        for _ in 0..N_TRIES {
            match &result {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                _ => break,
            }
            fs::create_dir_all(&self.directory).map_err(|error| {
                CacheError::from_io(Operation::CreateDirectory, &self.directory, 0, error)
            })?;
            result = KeyLock::attempt(&path);
        }
        result.map_err(|error| CacheError::from_io(Operation::Lock, &path, 0, error))
    }

    /// Waits for the lock.
    ///
    /// # Errors
    ///
    /// [`CacheError::LockTimeout`] after the timeout, and those of [`try_lock`](Self::try_lock).
    pub fn lock(
        &self,
        key: &CacheKey,
        options: &LockOptions,
        clock: &dyn Clock,
    ) -> Result<KeyLock, CacheError> {
        match self.lock_unless(key, options, clock, || None::<std::convert::Infallible>)? {
            Waited::Locked(lock, _) => Ok(lock),
            Waited::Without(never, _) => match never {},
        }
    }

    /// Waits for the lock, or until `done` has what the lock was wanted for.
    pub(crate) fn lock_unless<T>(
        &self,
        key: &CacheKey,
        options: &LockOptions,
        clock: &dyn Clock,
        mut done: impl FnMut() -> Option<T>,
    ) -> Result<Waited<T>, CacheError> {
        let start = clock.now();
        for n_pauses in 0.. {
            let lock = self.try_lock(key)?;
            let waited = clock.now().saturating_sub(start);
            if let Some(lock) = lock {
                return Ok(Waited::Locked(lock, waited));
            }
            if let Some(done) = done() {
                return Ok(Waited::Without(done, waited));
            }
            match options.pause(n_pauses, waited) {
                Some(pause) => clock.sleep(pause),
                None => return Err(self.timeout(key, waited)),
            }
        }
        Err(self.timeout(key, clock.now().saturating_sub(start)))
    }

    /// Looks at all lock files. Holds each free one for a moment, which makes others ask again.
    ///
    /// # Errors
    ///
    /// [`CacheError::Io`] or [`CacheError::NotWritable`] where the directory cannot be listed.
    pub fn survey(&self) -> Result<LockSurvey, CacheError> {
        let mut survey = LockSurvey::default();
        for path in self.files()? {
            match guard::is_held(&path) {
                Ok(Some(true)) => survey.n_held += 1,
                Ok(Some(false)) => survey.n_stale += 1,
                Ok(None) => {}
                Err(_) => survey.n_unreadable += 1,
            }
        }
        Ok(survey)
    }

    /// Removes the lock files that ended processes left. Locks that are held stay. Returns the
    /// number removed.
    ///
    /// # Errors
    ///
    /// Those of [`survey`](Self::survey).
    pub fn sweep(&self) -> Result<u64, CacheError> {
        let mut n_removed = 0;
        for path in self.files()? {
            // Taking the lock and releasing it removes its file, and is the only safe way to.
            if let Ok(Some(true)) = guard::is_held(&path).map(|is_held| is_held.map(|held| !held))
                && let Ok(Some(lock)) = KeyLock::attempt(&path)
            {
                lock.release();
                n_removed += u64::from(!path.exists());
            }
        }
        Ok(n_removed)
    }

    fn files(&self) -> Result<impl Iterator<Item = PathBuf>, CacheError> {
        let files = match fs::read_dir(&self.directory) {
            Ok(files) => Some(files),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(CacheError::from_io(Operation::List, &self.directory, 0, error)),
        };
        let paths = files.into_iter().flatten().flatten().map(|file| file.path());
        Ok(paths.filter(|path| is_lock_file(path)))
    }

    fn timeout(&self, key: &CacheKey, waited: Duration) -> CacheError {
        let path = self.path_of(key);
        let holder = guard::holder_of(&path);
        CacheError::LockTimeout { key: *key, path, waited, holder }
    }
}

fn is_lock_file(path: &Path) -> bool {
    let is_key =
        path.file_stem().and_then(|stem| stem.to_str()).is_some_and(|stem| stem.parse::<CacheKey>().is_ok());
    is_key && path.extension().is_some_and(|extension| extension == EXTENSION)
}
