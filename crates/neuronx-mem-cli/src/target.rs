//! Where a result goes and in which format: by the option, or by the name of the file. Replaces a
//! file in one step.

use std::ffi::OsStr;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::ValueEnum;
use neuronx_mem::snapshot::{AtomicFile, Error as SnapshotError, Format};
use neuronx_mem_replay::Compression;

use crate::failure::Failure;

/// A format that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Snapshot for Python and the PyTorch memory visualizer
    Pickle,
    /// Snapshot as JSON
    Json,
    /// Trace
    Csv,
    /// Trace, gzip
    #[value(name = "csv.gz")]
    CsvGz,
    /// Trace, zstd
    #[value(name = "csv.zst")]
    CsvZst,
    /// Timeline for ui.perfetto.dev
    Perfetto,
}

/// What the end of a name says; the first that fits counts.
const ENDINGS: [(&str, Kind); 7] = [
    (".perfetto.json", Kind::Perfetto),
    (".pickle", Kind::Pickle),
    (".pkl", Kind::Pickle),
    (".json", Kind::Json),
    (".csv", Kind::Csv),
    (".csv.gz", Kind::CsvGz),
    (".csv.zst", Kind::CsvZst),
];

impl Kind {
    /// The format that a file name asks for.
    pub(crate) fn of_name(path: &Path) -> Result<Self, Failure> {
        let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default().to_lowercase();
        let kind = ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, kind)| *kind);
        kind.ok_or_else(|| Failure::UnknownTarget { path: path.to_owned() })
    }

    /// The format of a snapshot file; traces and timelines are none.
    pub(crate) fn snapshot_format(self) -> Option<Format> {
        match self {
            Self::Pickle => Some(Format::Pickle),
            Self::Json => Some(Format::Json),
            _ => None,
        }
    }

    /// How a trace is compressed; snapshots and timelines are none.
    pub(crate) fn compression(self) -> Option<Compression> {
        match self {
            Self::Csv => Some(Compression::None),
            Self::CsvGz => Some(Compression::Gzip),
            Self::CsvZst => Some(Compression::Zstd),
            _ => None,
        }
    }
}

/// Writes to standard output for `-`, else to a file that appears when it is whole.
pub(crate) fn write(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if path == Path::new("-") {
        let mut out = BufWriter::new(io::stdout().lock());
        return ignore_closed_pipe(content(&mut out).and_then(|()| Ok(out.flush()?)));
    }
    let refused = |source| Failure::Target { path: path.to_owned(), source };
    let mut file = BufWriter::new(AtomicFile::create(path).map_err(refused)?);
    content(&mut file)?;
    let flushed = file
        .into_inner()
        .map_err(|error| SnapshotError::Io { operation: "writing the file", source: error.into_error() });
    flushed.and_then(AtomicFile::commit).map_err(refused)
}

/// A reader that has gone is no error.
fn ignore_closed_pipe(result: Result<(), Failure>) -> Result<(), Failure> {
    match result {
        Err(failure) if failure.io().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) => Ok(()),
        other => other,
    }
}
