//! The streaming reader: events from any buffered text. Checks each line for itself; whether ids
//! are live is for [`LiveIds`](crate::LiveIds) to say.

use std::io::BufRead;

use super::lines::{Lines, Next};
use super::parse::{Line, parse_line};
use crate::{
    Event, EventSource, Fault, Header, MAX_HEADERS, MAX_LINE_BYTES, ReplayError, Skipped, TraceLine,
};

/// Reads a trace line by line, as an iterator; memory does not grow with the input.
///
/// CRLF, blank lines and unknown headers are accepted, and a last line without its end. An input
/// without any event ends with [`ReplayError::NoEvents`].
///
/// ```
/// use neuronx_mem_replay::{Event, TraceReader};
///
/// let mut reader = TraceReader::new("# name: tiny\r\na,1,512,0\r\n\r\nf,1\r\n".as_bytes(), "tiny.csv");
/// let first = reader.next().transpose()?.map(|line| (line.line, line.event));
/// assert_eq!(first, Some((2, Event::Allocate { id: 1, bytes: 512, stream: 0 })));
///
/// let mut reader = TraceReader::new("a,1,512\n".as_bytes(), "tiny.csv");
/// let error = reader.next().map(|line| line.unwrap_err().to_string());
/// assert_eq!(error.as_deref(), Some("tiny.csv: line 1: event `a` lacks its stream"));
/// # Ok::<(), neuronx_mem_replay::ReplayError>(())
/// ```
#[derive(Debug)]
pub struct TraceReader<R> {
    lines: Lines<R>,
    input: String,
    is_lenient: bool,
    n_events: u64,
    headers: Vec<Header>,
    skipped: Skipped,
    is_done: bool,
}

impl<R: BufRead> TraceReader<R> {
    /// Reads plain text; `input` names it in errors. [`TraceInput`](crate::TraceInput) opens
    /// files, compressed or not.
    #[must_use]
    pub fn new(reader: R, input: impl Into<String>) -> Self {
        Self {
            lines: Lines::new(reader),
            input: input.into(),
            is_lenient: false,
            n_events: 0,
            headers: Vec::new(),
            skipped: Skipped::default(),
            is_done: false,
        }
    }

    /// Skips and counts wrong lines instead of ending with an error.
    #[must_use]
    pub fn lenient(mut self, is_lenient: bool) -> Self {
        self.is_lenient = is_lenient;
        self
    }

    /// The last line read, from 1; 0 before the first.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.lines.line()
    }

    /// One line further: an event, or `None` when the line has none.
    #[inline]
    fn step(&mut self) -> Result<Option<Event>, ReplayError> {
        let headers = &mut self.headers;
        let next = self.lines.next(|line| {
            parse_line(line).map(|line| match line {
                Line::Event(event) => Some(event),
                Line::Blank => None,
                Line::Comment(text) => {
                    keep(headers, text);
                    None
                }
            })
        });
        match next {
            Ok(Next::Line(Ok(event))) => Ok(event),
            Ok(Next::Line(Err(fault))) => self.reject(fault),
            Ok(Next::TooLong) => self.reject(Fault::LineTooLong { limit_bytes: MAX_LINE_BYTES }),
            Ok(Next::End) => self.end(),
            Err(error) => Err(ReplayError::unreadable(&self.input, self.lines.line(), error)),
        }
    }

    #[cold]
    fn reject(&mut self, fault: Fault) -> Result<Option<Event>, ReplayError> {
        if self.is_lenient {
            self.skipped.add(fault.kind());
            return Ok(None);
        }
        Err(ReplayError::rejected(&self.input, self.lines.line(), fault))
    }

    #[cold]
    fn end(&mut self) -> Result<Option<Event>, ReplayError> {
        self.is_done = true;
        if self.n_events == 0 {
            return Err(ReplayError::NoEvents { input: self.input.clone() });
        }
        Ok(None)
    }
}

#[cold]
fn keep(headers: &mut Vec<Header>, text: &str) {
    if headers.len() < MAX_HEADERS {
        headers.extend(Header::parse(text));
    }
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<TraceLine, ReplayError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_done {
            match self.step() {
                Ok(None) => {}
                Ok(Some(event)) => {
                    self.n_events += 1;
                    return Some(Ok(TraceLine { line: self.lines.line(), event }));
                }
                Err(error) => {
                    self.is_done = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

impl<R: BufRead> EventSource for TraceReader<R> {
    fn name(&self) -> &str {
        &self.input
    }

    fn headers(&self) -> &[Header] {
        &self.headers
    }

    fn is_lenient(&self) -> bool {
        self.is_lenient
    }

    fn skipped(&self) -> Skipped {
        self.skipped
    }
}
