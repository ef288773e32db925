//! A whole trace to a writer, compressed or not. Writes only what a replay would accept.

use std::io::{BufWriter, Write};

use flate2::write::GzEncoder;

use crate::{Event, EventSource, LiveIds, ReplayError, TraceLine, TraceWriter};

/// How the text of a trace is compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all (`.csv`).
    #[default]
    None,
    /// `.csv.gz`.
    Gzip,
    /// `.csv.zst`.
    Zstd,
}

/// The default of the zstd tool.
const ZSTD_LEVEL: i32 = 3;

/// Writes all events of a source, with the headers known when the first event has come.
///
/// ```
/// use neuronx_mem_replay::{Compression, TraceReader, write_trace};
///
/// let mut text = Vec::new();
/// let reader = TraceReader::new("# name=tiny\r\n\na,1,512,0\n".as_bytes(), "tiny.csv");
/// write_trace(reader, &mut text, Compression::None)?;
/// assert_eq!(text, b"# name: tiny\na,1,512,0\n");
/// # Ok::<(), neuronx_mem_replay::ReplayError>(())
/// ```
///
/// # Errors
///
/// The first error of the source; [`ReplayError::Rejected`] for an event that does not fit those
/// before it, unless the source is lenient; [`ReplayError::Write`], [`ReplayError::Unwritable`].
pub fn write_trace(
    source: impl EventSource,
    out: impl Write,
    compression: Compression,
) -> Result<(), ReplayError> {
    let out = BufWriter::new(out);
    let mut out = match compression {
        Compression::None => write_text(source, out)?,
        Compression::Gzip => {
            write_text(source, GzEncoder::new(out, flate2::Compression::default()))?.finish()?
        }
        Compression::Zstd => write_text(source, zstd::Encoder::new(out, ZSTD_LEVEL)?)?.finish()?,
    };
    Ok(out.flush()?)
}

fn write_text<W: Write>(mut source: impl EventSource, out: W) -> Result<W, ReplayError> {
    let mut writer = TraceWriter::new(out);
    let mut live = LiveIds::new();
    let mut has_headers = false;
    while let Some(line) = source.next() {
        let TraceLine { line, event } = line?;
        if !has_headers {
            has_headers = true;
            for header in source.headers() {
                writer.header(&header.key, &header.value)?;
            }
        }
        let fault = match event {
            Event::Allocate { id, .. } => live.allocate(id, ()).err(),
            Event::Free { id } => live.free(id).err(),
            Event::RecordStream { id, .. } => live.recorded(id).err(),
            Event::Synchronize | Event::Mark(_) => None,
        };
        match fault {
            None => writer.event(&event)?,
            Some(_) if source.is_lenient() => {}
            Some(fault) => return Err(ReplayError::rejected(source.name(), line, fault)),
        }
    }
    writer.finish()
}
