//! A trace or a snapshot by name: a file or standard input. Opens, tells what it is by its first
//! bytes, and says whether it can be opened again.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;

use neuronx_mem_snapshot::{Error as SnapshotError, Limits, Snapshot};

use super::compression::decompress;
use crate::{ReplayError, TraceReader};

/// Large enough that calls of the decompressor do not show.
const BUFFER_BYTES: usize = 128 * 1024;

/// The first byte of a pickle of protocol 2 or later.
const PICKLE: u8 = 0x80;

/// A reader of an opened [`TraceInput`].
pub type OpenedTrace = TraceReader<BufReader<Box<dyn Read + Send>>>;

/// What an input turned out to be.
#[non_exhaustive]
pub enum OpenedInput {
    /// A trace, to be read line by line.
    Trace(Box<OpenedTrace>),
    /// A memory snapshot, read as a whole.
    Snapshot(Box<Snapshot>),
}

/// Where a trace is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceInput {
    /// A file: plain, gzip or zstd by content, whatever its name.
    File(PathBuf),
    /// Standard input, likewise.
    Stdin,
}

impl TraceInput {
    /// What an argument of a command line means: `-` is standard input.
    #[must_use]
    pub fn from_argument(argument: impl AsRef<OsStr>) -> Self {
        let argument = argument.as_ref();
        if argument == "-" { Self::Stdin } else { Self::File(argument.into()) }
    }

    /// Its name in messages and reports: the path as given, or `-`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Stdin => "-".to_owned(),
        }
    }

    /// Whether it can be opened a second time with the same content: a regular file.
    #[must_use]
    pub fn is_rereadable(&self) -> bool {
        match self {
            Self::File(path) => fs::metadata(path).is_ok_and(|metadata| metadata.is_file()),
            Self::Stdin => false,
        }
    }

    /// Opens it. Reads only the first bytes, to know the compression.
    ///
    /// # Errors
    ///
    /// [`ReplayError::Open`], [`ReplayError::IsDirectory`], or what reading the first bytes
    /// gives.
    pub fn open(&self) -> Result<OpenedTrace, ReplayError> {
        self.trace(self.bytes()?)
    }

    /// Opens it as what it is: a snapshot when it begins like a pickle or like JSON, otherwise a
    /// trace. A snapshot is read as a whole, within the default [`Limits`]; it is not compressed.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and [`ReplayError::Snapshot`].
    pub fn open_any(&self) -> Result<OpenedInput, ReplayError> {
        let mut bytes = BufReader::with_capacity(BUFFER_BYTES, self.bytes()?);
        let start = bytes.fill_buf().map_err(|source| ReplayError::unreadable(&self.name(), 0, source))?;
        if !is_snapshot(start) {
            return self.trace(Box::new(bytes)).map(|trace| OpenedInput::Trace(Box::new(trace)));
        }
        let unreadable = |source| ReplayError::Snapshot { input: self.name(), source };
        let snapshot = match self {
            Self::File(path) if self.is_rereadable() => Snapshot::read_file(path, &Limits::default()),
            _ => read_snapshot(bytes),
        };
        snapshot.map(|snapshot| OpenedInput::Snapshot(Box::new(snapshot))).map_err(unreadable)
    }

    /// Opens it as text of another format, decompressed as it is read. Reads only the first bytes, to
    /// know the compression. Errors of the reader are for [`unreadable`](Self::unreadable).
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_text(&self) -> Result<Box<dyn BufRead + Send>, ReplayError> {
        let text = decompress(self.bytes()?).map_err(|source| self.unreadable(0, source))?;
        Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, text)))
    }

    /// Says what an error of the reader means, after `line` whole lines: the system's, an early end or
    /// damage of compressed data.
    #[must_use]
    pub fn unreadable(&self, line: u64, source: io::Error) -> ReplayError {
        ReplayError::unreadable(&self.name(), line, source)
    }

    fn bytes(&self) -> Result<Box<dyn Read + Send>, ReplayError> {
        let Self::File(path) = self else { return Ok(Box::new(io::stdin())) };
        let file = File::open(path).map_err(|source| ReplayError::Open { input: self.name(), source })?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(ReplayError::IsDirectory { input: self.name() });
        }
        Ok(Box::new(file))
    }

    fn trace(&self, bytes: Box<dyn Read + Send>) -> Result<OpenedTrace, ReplayError> {
        let input = self.name();
        let text = decompress(bytes).map_err(|source| ReplayError::unreadable(&input, 0, source))?;
        Ok(TraceReader::new(BufReader::with_capacity(BUFFER_BYTES, text), input))
    }
}

/// Short: a reader has no content to show, and a snapshot too much.
impl fmt::Debug for OpenedInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Trace(_) => "Trace(..)",
            Self::Snapshot(_) => "Snapshot(..)",
        })
    }
}

/// No line of a trace begins like a pickle or like JSON.
fn is_snapshot(start: &[u8]) -> bool {
    let first = start.trim_ascii_start().first().copied();
    matches!(first, Some(b'{' | b'[')) || start.first() == Some(&PICKLE)
}

/// From what can be read only once.
fn read_snapshot(mut bytes: impl Read) -> Result<Snapshot, SnapshotError> {
    let limits = Limits::default();
    let mut content = Vec::new();
    let reading = |source| SnapshotError::Io { operation: "reading the snapshot", source };
    bytes
        .by_ref()
        .take(limits.max_input_bytes.saturating_add(1))
        .read_to_end(&mut content)
        .map_err(reading)?;
    Snapshot::read_slice(&content, &limits)
}
