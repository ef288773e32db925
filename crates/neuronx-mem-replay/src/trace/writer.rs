//! Events to text, in the one form that the format page shows. Does not check that ids are live.

use std::io::Write;

use crate::{Event, MAX_LINE_BYTES, ReplayError};

/// Writes a trace: headers as `# key: value`, one event a line, `\n` line ends.
///
/// Each call writes at once: hand it a buffered writer. What it writes, a
/// [`TraceReader`](crate::TraceReader) reads back to the same.
///
/// ```
/// use neuronx_mem_replay::{Event, TraceWriter};
///
/// let mut writer = TraceWriter::new(Vec::new());
/// writer.header("name", "tiny")?;
/// writer.event(&Event::Allocate { id: 1, bytes: 512, stream: 0 })?;
/// writer.event(&Event::Mark("step 1".into()))?;
/// assert_eq!(writer.finish()?, b"# name: tiny\na,1,512,0\nm,step 1\n");
/// # Ok::<(), neuronx_mem_replay::ReplayError>(())
/// ```
#[derive(Debug)]
pub struct TraceWriter<W> {
    out: W,
}

impl<W: Write> TraceWriter<W> {
    /// Starts a trace.
    #[must_use]
    pub fn new(out: W) -> Self {
        Self { out }
    }

    /// Writes one header.
    ///
    /// # Errors
    ///
    /// [`ReplayError::Unwritable`] for a key with white space, `:` or `=`, for an empty one, and
    /// for a value that would not come back from its line; [`ReplayError::Write`].
    pub fn header(&mut self, key: &str, value: &str) -> Result<(), ReplayError> {
        let is_key = !key.is_empty() && !key.contains([':', '=']) && !key.contains(char::is_whitespace);
        if !is_key {
            return Err(ReplayError::Unwritable { what: "a header key", text: key.to_owned() });
        }
        if !fits_a_line("# : ".len() + key.len(), value) || value.trim() != value {
            return Err(ReplayError::Unwritable { what: "a header value", text: value.to_owned() });
        }
        Ok(writeln!(self.out, "# {key}: {value}")?)
    }

    /// Writes one event.
    ///
    /// # Errors
    ///
    /// [`ReplayError::Unwritable`] for a label that would not come back from its line;
    /// [`ReplayError::Write`].
    pub fn event(&mut self, event: &Event) -> Result<(), ReplayError> {
        match event {
            Event::Allocate { id, bytes, stream } => writeln!(self.out, "a,{id},{bytes},{stream}")?,
            Event::Free { id } => writeln!(self.out, "f,{id}")?,
            Event::RecordStream { id, stream } => writeln!(self.out, "r,{id},{stream}")?,
            Event::Synchronize => writeln!(self.out, "s")?,
            Event::Mark(label) if fits_a_line("m,".len(), label) => writeln!(self.out, "m,{label}")?,
            Event::Mark(label) => {
                return Err(ReplayError::Unwritable { what: "a label", text: label.to_string() });
            }
        }
        Ok(())
    }

    /// Flushes, and gives the writer back.
    ///
    /// # Errors
    ///
    /// [`ReplayError::Write`].
    pub fn finish(mut self) -> Result<W, ReplayError> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Whether a text comes back from a line on which `n_before` bytes stand before it.
fn fits_a_line(n_before: usize, text: &str) -> bool {
    let n_bytes = n_before.saturating_add(text.len());
    !text.contains('\n') && !text.ends_with('\r') && n_bytes <= MAX_LINE_BYTES
}
