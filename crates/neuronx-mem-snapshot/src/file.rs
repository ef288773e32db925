//! Snapshots in files. Knows how to tell the formats apart; how a file is replaced in one step is
//! [`AtomicFile`]'s business.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::json::{read_json_from, read_json_slice, write_json};
use crate::pickle::{read_pickle, write_pickle};
use crate::{AtomicFile, Error, Limits, Snapshot};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Python pickle, protocol 4 when written, 2 to 5 when read.
    Pickle,
    /// JSON with the same structure; tuples become lists, stacks are repeated in line.
    Json,
}

impl Format {
    /// The format that a file name asks for: `.json` is JSON, everything else a pickle.
    ///
    /// ```
    /// use neuronx_mem_snapshot::Format;
    ///
    /// assert_eq!(Format::from_path("a/snapshot.JSON".as_ref()), Format::Json);
    /// assert_eq!(Format::from_path("a/snapshot.pickle".as_ref()), Format::Pickle);
    /// ```
    #[must_use]
    pub fn from_path(path: &Path) -> Self {
        let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        if is_json { Self::Json } else { Self::Pickle }
    }

    /// The format of some content by its first byte.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownFormat`] if it is neither.
    pub fn detect(first_byte: Option<u8>) -> Result<Self, Error> {
        match first_byte {
            Some(0x80) => Ok(Self::Pickle),
            Some(b'{' | b'[' | b' ' | b'\t' | b'\n' | b'\r') => Ok(Self::Json),
            _ => Err(Error::UnknownFormat { first_byte }),
        }
    }
}

impl Snapshot {
    /// Reads a snapshot of either format from memory.
    ///
    /// Never panics, whatever the bytes; cost is bounded by `limits`.
    ///
    /// # Errors
    ///
    /// Everything that [`Error`] lists under reading.
    pub fn read_slice(bytes: &[u8], limits: &Limits) -> Result<Self, Error> {
        match Format::detect(bytes.first().copied())? {
            Format::Pickle => read_pickle(bytes, limits),
            Format::Json => read_json_slice(bytes, limits),
        }
    }

    /// Reads a snapshot of either format from a file, by content, not by name.
    ///
    /// A pickle is read into memory first; JSON is streamed.
    ///
    /// # Errors
    ///
    /// As [`read_slice`](Self::read_slice), and [`Error::Io`].
    pub fn read_file(path: impl AsRef<Path>, limits: &Limits) -> Result<Self, Error> {
        let mut file = File::open(path).map_err(|source| Error::io("opening the snapshot", source))?;
        let metadata = file.metadata().map_err(|source| Error::io("inspecting the snapshot", source))?;
        if metadata.is_file() {
            limits.check_input(metadata.len())?;
            let mut first = [0];
            let n_read = file.read(&mut first).map_err(reading)?;
            file.seek(SeekFrom::Start(0)).map_err(reading)?;
            if Format::detect(first.get(..n_read).and_then(<[u8]>::first).copied())? == Format::Json {
                return read_json_from(BufReader::new(file), metadata.len(), limits);
            }
        }
        let mut bytes = Vec::new();
        let room = usize::try_from(metadata.len()).ok().and_then(|len| bytes.try_reserve_exact(len).ok());
        if room.is_none() {
            return Err(crate::LimitKind::MemoryBytes.error(metadata.len()));
        }
        file.take(limits.max_input_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(reading)?;
        Self::read_slice(&bytes, limits)
    }

    /// The snapshot as a pickle, protocol 4.
    ///
    /// # Errors
    ///
    /// [`Error::NotRepresentable`] for values that no file can hold.
    pub fn to_pickle(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes, Format::Pickle)?;
        Ok(bytes)
    }

    /// The snapshot as JSON text.
    ///
    /// # Errors
    ///
    /// [`Error::NotRepresentable`] for floats that are not finite, [`Error::LimitExceeded`] if
    /// repeating the stacks would be out of all proportion.
    pub fn to_json(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes, Format::Json)?;
        Ok(bytes)
    }

    /// Writes the snapshot and flushes. The writer need not be buffered.
    ///
    /// # Errors
    ///
    /// As [`to_pickle`](Self::to_pickle) and [`to_json`](Self::to_json), and [`Error::Io`].
    pub fn write_to(&self, out: &mut dyn Write, format: Format) -> Result<(), Error> {
        match format {
            Format::Pickle => write_pickle(self, out),
            Format::Json => write_json(self, out),
        }
    }

    /// Writes the snapshot to a file in the format that its name asks for.
    ///
    /// The content goes to a temporary file in the same folder that is then renamed: on any
    /// failure the temporary file is removed and an old file of that name is untouched.
    ///
    /// # Errors
    ///
    /// As [`write_to`](Self::write_to).
    ///
    /// ```
    /// # let folder = std::env::temp_dir().join(format!("neuronx-mem-doc-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// let path = folder.join("snapshot.pickle");
    /// let snapshot = neuronx_mem_snapshot::Snapshot::new();
    /// snapshot.write_file(&path)?;
    /// assert_eq!(neuronx_mem_snapshot::Snapshot::read_file(&path, &Default::default())?, snapshot);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), neuronx_mem_snapshot::Error>(())
    /// ```
    pub fn write_file(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        self.write_file_as(path, Format::from_path(path), false)
    }

    /// Writes the snapshot to a file in a given format. With `sync` the content is on the disk
    /// before the name appears, so that not even a power cut leaves an empty file.
    ///
    /// # Errors
    ///
    /// As [`write_to`](Self::write_to).
    pub fn write_file_as(&self, path: &Path, format: Format, sync: bool) -> Result<(), Error> {
        let mut file = AtomicFile::create(path)?;
        self.write_to(&mut file, format)?;
        if sync {
            file.sync()?;
        }
        file.commit()
    }
}

fn reading(source: std::io::Error) -> Error {
    Error::io("reading the snapshot", source)
}
