//! One table of one process as a CSV file that only grows.
//!
//! Knows how a file gets its header once and how a line arrives whole, whoever else writes to it.
//! Refuses to buffer: a row is in the file when `append` returns.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use super::error::MetricsError;
use super::row::TableRow;

/// What stands in front of the columns of every table.
const LEADING_COLUMNS: &str = "timestamp_us,rank,device";

/// Where the tables of one process are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablePlace {
    /// The directory, which exists (`TORCH_NEURONX_METRICS_DIR`).
    pub dir: PathBuf,
    /// The rank of the process.
    pub rank: u32,
    /// The id of the process.
    pub pid: u32,
}

/// When and where a row was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Microseconds since the Unix epoch, as the caller's clock has it.
    pub timestamp_us: u64,
    /// The device ordinal.
    pub device: u32,
}

/// A metric table, open for appending.
///
/// The header is written once however many threads and processes open the file: the first to take
/// its lock does it (on a file system without locks, two that start at the same moment may both).
/// A row is one `write` in append mode, which local file systems keep whole; NFS does not promise
/// it. There is no second try after an error: the row is lost, and the next one is on a line of its
/// own.
///
/// ```
/// use neuronx_mem_stats::{Sample, StreamRow, TableFile, TablePlace};
///
/// # let directory = tempfile::tempdir()?;
/// # let dir = directory.path().to_owned();
/// let place = TablePlace { dir, rank: 0, pid: 41 };
/// let mut streams = TableFile::open(&place)?;
/// let row = StreamRow { stream: 3, submitted: 9, completed: 7, ..Default::default() };
/// streams.append(Sample { timestamp_us: 1_700_000_000_000_000, device: 1 }, &[row])?;
/// assert_eq!(
///     std::fs::read_to_string(place.dir.join("neuronx_mem_streams_rank0_pid41.csv"))?,
///     "timestamp_us,rank,device,stream,pending_blocks,pending_bytes,submitted,completed\n\
///      1700000000000000,0,1,3,0,0,9,7\n",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TableFile<R> {
    file: File,
    path: PathBuf,
    rank: u32,
    /// Whether the file may end within a line, for which there was no room.
    is_torn: bool,
    row: PhantomData<fn(&R)>,
}

impl TablePlace {
    /// Returns the file of a table: `neuronx_mem_<table>_rank<rank>_pid<pid>.csv`.
    #[must_use]
    pub fn path<R: TableRow>(&self) -> PathBuf {
        let Self { dir, rank, pid } = self;
        dir.join(format!("neuronx_mem_{}_rank{rank}_pid{pid}.csv", R::TABLE))
    }
}

impl<R: TableRow> TableFile<R> {
    /// Opens the file of the table, and makes it with its header when it is not there.
    ///
    /// Waits while another writes the header, never longer.
    ///
    /// # Errors
    ///
    /// [`MetricsError::File`] when the file cannot be opened, locked, read or written,
    /// [`MetricsError::NotAFile`] and [`MetricsError::OtherColumns`] when something else has its name,
    /// [`MetricsError::ShortWrite`] when there is no room for the header; none of it stays then.
    pub fn open(place: &TablePlace) -> Result<Self, MetricsError> {
        let path = place.path::<R>();
        let file = OpenOptions::new().read(true).append(true).create(true).open(&path);
        let file = file.map_err(|source| failed(&path, "open", source))?;
        let mut table = Self { file, path, rank: place.rank, is_torn: false, row: PhantomData };
        let is_locked = table.lock()?;
        let result = table.write_header_once();
        if is_locked {
            // Closing the file gives the lock back too.
            let _ = table.file.unlock();
        }
        result.map(|()| table)
    }

    /// Returns where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a line for each row, each with one `write`. Cost: a system call a row.
    ///
    /// # Errors
    ///
    /// [`MetricsError::File`] and [`MetricsError::ShortWrite`]; rows before the failed one are in the
    /// file, those after it are not.
    pub fn append(&mut self, sample: Sample, rows: &[R]) -> Result<(), MetricsError> {
        let Sample { timestamp_us, device } = sample;
        rows.iter().try_for_each(|row| {
            let end = if self.is_torn { "\n" } else { "" };
            let fields = row.fields().join(",");
            self.write(&format!("{end}{timestamp_us},{},{device},{fields}\n", self.rank))
        })
    }

    /// Says whether there is a lock; a file system may have none.
    fn lock(&self) -> Result<bool, MetricsError> {
        loop {
            match self.file.lock() {
                Ok(()) => return Ok(true),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(false),
                Err(error) => return Err(failed(&self.path, "lock", error)),
            }
        }
    }

    fn write_header_once(&mut self) -> Result<(), MetricsError> {
        let metadata = self.file.metadata().map_err(|error| failed(&self.path, "read", error))?;
        if !metadata.is_file() {
            return Err(MetricsError::NotAFile { path: self.path.clone() });
        }
        let header = format!("{LEADING_COLUMNS},{}\n", R::columns().join(","));
        if metadata.len() > 0 {
            return self.check_header(&header);
        }
        let result = self.write(&header);
        if result.is_err() {
            // Nobody else has written yet. A file that cannot be emptied is refused at the next try.
            let _ = self.file.set_len(0);
        }
        result
    }

    fn check_header(&mut self, header: &str) -> Result<(), MetricsError> {
        let mut start = vec![0; header.len()];
        match self.read_at(SeekFrom::Start(0), &mut start) {
            Ok(()) if start == header.as_bytes() => {}
            Err(error) if error.kind() != ErrorKind::UnexpectedEof => {
                return Err(failed(&self.path, "read", error));
            }
            _ => return Err(MetricsError::OtherColumns { path: self.path.clone(), table: R::TABLE }),
        }
        let mut last = [0];
        self.read_at(SeekFrom::End(-1), &mut last).map_err(|error| failed(&self.path, "read", error))?;
        self.is_torn = last != *b"\n";
        Ok(())
    }

    /// Reads a part of the file. Appending does not mind where that leaves the file's position.
    fn read_at(&mut self, place: SeekFrom, bytes: &mut [u8]) -> std::io::Result<()> {
        self.file.seek(place)?;
        self.file.read_exact(bytes)
    }

    /// One `write`, so that lines of others come before or after this one and never within.
    fn write(&mut self, line: &str) -> Result<(), MetricsError> {
        let written_bytes = loop {
            match self.file.write(line.as_bytes()) {
                Ok(written_bytes) => break written_bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(&self.path, "write", error)),
            }
        };
        if written_bytes == line.len() {
            self.is_torn = false;
            return Ok(());
        }
        self.is_torn |= written_bytes > 0;
        Err(MetricsError::ShortWrite { path: self.path.clone(), written_bytes, line_bytes: line.len() })
    }
}

fn failed(path: &Path, action: &'static str, source: std::io::Error) -> MetricsError {
    MetricsError::File { path: path.to_owned(), action, source }
}
