//! Bytes to lines, in place where a line lies whole in the buffer. Holds at most one line, and
//! never one beyond the limit.

use std::io::{self, BufRead};

/// Longest line that a reader accepts, bytes without the line end.
pub const MAX_LINE_BYTES: usize = 64 * 1024;

/// What there is to read next.
pub(super) enum Next<T> {
    /// What was made of the line.
    Line(T),
    /// A line beyond the limit; the rest of it is read over.
    TooLong,
    /// Nothing.
    End,
}

#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    /// The start of a line that is not whole in the reader's buffer.
    partial: Vec<u8>,
    /// Inside the rest of a line that was too long.
    is_skipping: bool,
    /// Lines handed out, those too long included.
    line: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, partial: Vec::new(), is_skipping: false, line: 0 }
    }

    /// The last line handed out, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Shows the next line, without its `\n`, to `look`.
    #[inline]
    pub(super) fn next<T>(&mut self, look: impl FnOnce(&[u8]) -> T) -> io::Result<Next<T>> {
        loop {
            let buffer = match self.reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let is_last = buffer.is_empty();
            let part = &buffer[..end.unwrap_or(buffer.len())];
            let n_read = end.map_or(buffer.len(), |end| end + 1);
            let is_whole = end.is_some() || is_last;
            if self.is_skipping {
                self.is_skipping = !is_whole;
                self.reader.consume(n_read);
                if is_last {
                    return Ok(Next::End);
                }
                continue;
            }
            if self.partial.len() + part.len() > MAX_LINE_BYTES {
                self.partial.clear();
                self.is_skipping = !is_whole;
                self.reader.consume(n_read);
                self.line += 1;
                return Ok(Next::TooLong);
            }
            if !is_whole {
                self.partial.extend_from_slice(part);
                self.reader.consume(n_read);
                continue;
            }
            if is_last && self.partial.is_empty() {
                return Ok(Next::End);
            }
            self.line += 1;
            let looked = if self.partial.is_empty() {
                look(part)
            } else {
                self.partial.extend_from_slice(part);
                let looked = look(&self.partial);
                self.partial.clear();
                looked
            };
            self.reader.consume(n_read);
            return Ok(Next::Line(looked));
        }
    }
}
