//! A trace by name: a file or standard input. Opens, and says whether it can be opened again.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::PathBuf;

use super::compression::decompress;
use crate::{ReplayError, TraceReader};

/// Large enough that calls of the decompressor do not show.
const BUFFER_BYTES: usize = 128 * 1024;

/// A reader of an opened [`TraceInput`].
pub type OpenedTrace = TraceReader<BufReader<Box<dyn Read + Send>>>;

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
        let input = self.name();
        let text = match self {
            Self::Stdin => decompress(io::stdin()),
            Self::File(path) => {
                let file =
                    File::open(path).map_err(|source| ReplayError::Open { input: input.clone(), source })?;
                if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
                    return Err(ReplayError::IsDirectory { input });
                }
                decompress(file)
            }
        };
        let text = text.map_err(|source| ReplayError::unreadable(&input, 0, source))?;
        Ok(TraceReader::new(BufReader::with_capacity(BUFFER_BYTES, text), input))
    }
}
