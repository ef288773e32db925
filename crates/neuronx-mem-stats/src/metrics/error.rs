//! What can fail while metrics are written or served. Says where and how far it went.

use std::io;
use std::path::PathBuf;

/// Why a row was not written, or a page not served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MetricsError {
    /// The file cannot be opened, locked, read or written.
    #[error("metric table {}: cannot {action}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried: `open`, `lock`, `read` or `write`.
        action: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// Something that is no file has the name: a directory, a pipe, a device.
    #[error("metric table {}: is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file starts with other columns than the table has: another release wrote it.
    #[error("metric table {}: starts with other columns than the table `{table}` has", path.display())]
    OtherColumns {
        /// The file.
        path: PathBuf,
        /// The table.
        table: &'static str,
    },
    /// Only the start of a line found place, as on a full disk. The rest of it is not written; the
    /// next line starts on a line of its own.
    #[error(
        "metric table {}: only {written_bytes} of the {line_bytes} bytes of a line were written",
        path.display()
    )]
    ShortWrite {
        /// The file.
        path: PathBuf,
        /// What is in the file.
        written_bytes: usize,
        /// What should be.
        line_bytes: usize,
    },
    /// The address cannot be listened on, or there is no thread to serve it.
    #[cfg(feature = "serve")]
    #[error("metrics server: cannot {action}: {source}")]
    Server {
        /// What was tried: `listen` or `start a thread`.
        action: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The text for Prometheus could not be put together.
    #[cfg(feature = "prometheus")]
    #[error("the metrics have no text form")]
    Text(#[from] std::fmt::Error),
}
