//! Replaces a file in one step. Knows a temporary name beside the final one; refuses to leave a
//! half-written file under either.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Error;

/// A file that appears under its name only when it is whole.
///
/// What is written goes to a temporary file in the same folder. [`commit`](Self::commit) renames it;
/// dropped before that, the temporary file is removed and an old file of the name is untouched. A
/// link stays a link: the file it names is replaced. A device or a pipe is written directly.
///
/// ```
/// use std::io::Write;
///
/// use neuronx_mem_snapshot::AtomicFile;
///
/// # let folder = std::env::temp_dir().join(format!("neuronx-mem-atomic-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let path = folder.join("trace.csv");
/// let mut file = AtomicFile::create(&path)?;
/// file.write_all(b"s\n")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"s\n");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    path: PathBuf,
    target: PathBuf,
    /// Nothing is left to be removed.
    is_final: bool,
}

impl AtomicFile {
    /// A new temporary file next to `target`.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn create(target: impl AsRef<Path>) -> Result<Self, Error> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        const ATTEMPTS: u32 = 16;
        let target = std::fs::canonicalize(&target).unwrap_or_else(|_| target.as_ref().to_owned());
        if std::fs::metadata(&target).is_ok_and(|old| !old.is_file() && !old.is_dir()) {
            let file = OpenOptions::new().write(true).open(&target);
            let file = file.map_err(|source| Error::io("opening the file", source))?;
            return Ok(Self { file, path: target.clone(), target, is_final: true });
        }
        let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut last = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = target.with_file_name(format!(".{name}.{}.{number}.tmp", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    return Ok(Self { file, path, target, is_final: false });
                }
                // A file of a crashed process with the same number: take the next one.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(Error::io("creating the temporary file", error)),
            }
        }
        Err(Error::io("creating the temporary file", last))
    }

    /// Waits until the content is on the disk.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn sync(&self) -> Result<(), Error> {
        self.file.sync_all().map_err(|source| Error::io("syncing the file", source))
    }

    /// Gives the file its name, replacing an old one.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]; then the temporary file is removed.
    pub fn commit(mut self) -> Result<(), Error> {
        if self.is_final {
            return Ok(());
        }
        std::fs::rename(&self.path, &self.target)
            .map_err(|source| Error::io("renaming the temporary file", source))?;
        self.is_final = true;
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if self.is_final {
            return;
        }
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "the temporary file could not be removed");
        }
    }
}
