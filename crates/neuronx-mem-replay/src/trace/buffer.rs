//! A trace in memory, about five bytes an event, for whoever passes over it more than once.

use super::varint;
use crate::{
    Event, EventSource, Header, HistoryEvents, OpenedInput, ReplayError, Skipped, TraceInput, TraceLine,
};

const ALLOCATE: u8 = 0;
const FREE: u8 = 1;
const RECORD: u8 = 2;
const SYNCHRONIZE: u8 = 3;
const MARK: u8 = 4;
const KIND: u8 = 7;
/// A stream follows; without it the stream is 0.
const HAS_STREAM: u8 = 8;
/// A distance to the line before follows; without it the distance is 1.
const HAS_LINE: u8 = 16;

/// Events of a whole trace, encoded compactly; cheap to pass over any number of times, from any
/// number of threads.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    name: String,
    headers: Vec<Header>,
    is_lenient: bool,
    skipped: Skipped,
    n_events: u64,
    labels: Vec<Box<str>>,
    bytes: Vec<u8>,
}

/// Passes over a [`Trace`].
#[derive(Clone, Debug)]
pub struct TraceEvents<'a> {
    trace: &'a Trace,
    bytes: &'a [u8],
    labels: std::slice::Iter<'a, Box<str>>,
    place: Place,
}

/// What distances are measured from.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    line: u64,
    id: u64,
}

impl Trace {
    /// Reads all events of a source. O(events), in time and memory.
    ///
    /// # Errors
    ///
    /// The first error of the source.
    pub fn read(mut source: impl EventSource) -> Result<Self, ReplayError> {
        let mut trace = Self::default();
        let mut place = Place::default();
        for line in source.by_ref() {
            trace.push(&mut place, line?);
        }
        trace.bytes.shrink_to_fit();
        trace.name = source.name().to_owned();
        trace.headers = source.headers().to_vec();
        trace.is_lenient = source.is_lenient();
        trace.skipped = source.skipped();
        Ok(trace)
    }

    /// Reads a trace or a snapshot, told apart by content. Of a snapshot the history of the first
    /// device that has one, or segments, becomes the trace.
    ///
    /// # Errors
    ///
    /// As [`TraceInput::open_any`] and [`read`](Self::read).
    pub fn read_input(input: &TraceInput, is_lenient: bool) -> Result<Self, ReplayError> {
        Self::read_opened(input.open_any()?, input, is_lenient)
    }

    pub(crate) fn read_opened(
        opened: OpenedInput,
        input: &TraceInput,
        is_lenient: bool,
    ) -> Result<Self, ReplayError> {
        match opened {
            OpenedInput::Trace(reader) => Self::read(reader.lenient(is_lenient)),
            OpenedInput::Snapshot(snapshot) => {
                Self::read(HistoryEvents::of_device(&snapshot, None, input.name())?)
            }
        }
    }

    /// Name of the input it was read from.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its headers.
    #[must_use]
    pub fn headers(&self) -> &[Header] {
        &self.headers
    }

    /// How many events there are.
    #[must_use]
    pub fn n_events(&self) -> u64 {
        self.n_events
    }

    /// Bytes that hold the events.
    #[must_use]
    pub fn encoded_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The events from the first on.
    #[must_use]
    pub fn events(&self) -> TraceEvents<'_> {
        TraceEvents { trace: self, bytes: &self.bytes, labels: self.labels.iter(), place: Place::default() }
    }

    fn push(&mut self, place: &mut Place, line: TraceLine) {
        let n_lines = line.line.wrapping_sub(place.line);
        place.line = line.line;
        self.n_events += 1;
        match line.event {
            Event::Allocate { id, bytes, stream } => {
                self.start(ALLOCATE, n_lines, stream);
                varint::put(&mut self.bytes, varint::distance(place.id, id));
                place.id = id;
                varint::put(&mut self.bytes, bytes);
                self.stream(stream);
            }
            Event::Free { id } => {
                self.start(FREE, n_lines, 0);
                varint::put(&mut self.bytes, varint::distance(place.id, id));
            }
            Event::RecordStream { id, stream } => {
                self.start(RECORD, n_lines, stream);
                varint::put(&mut self.bytes, varint::distance(place.id, id));
                self.stream(stream);
            }
            Event::Synchronize => self.start(SYNCHRONIZE, n_lines, 0),
            Event::Mark(label) => {
                self.start(MARK, n_lines, 0);
                self.labels.push(label);
            }
        }
    }

    fn start(&mut self, kind: u8, n_lines: u64, stream: u64) {
        let stream_flag = if stream == 0 { 0 } else { HAS_STREAM };
        let line_flag = if n_lines == 1 { 0 } else { HAS_LINE };
        self.bytes.push(kind | stream_flag | line_flag);
        if n_lines != 1 {
            varint::put(&mut self.bytes, n_lines);
        }
    }

    fn stream(&mut self, stream: u64) {
        if stream != 0 {
            varint::put(&mut self.bytes, stream);
        }
    }
}

impl TraceEvents<'_> {
    /// `None` at the end: what [`Trace::push`] wrote is always whole.
    #[inline]
    fn decode(&mut self) -> Option<TraceLine> {
        let (tag, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        let n_lines = if tag & HAS_LINE == 0 { 1 } else { varint::take(&mut self.bytes)? };
        self.place.line = self.place.line.wrapping_add(n_lines);
        let event = match tag & KIND {
            ALLOCATE => {
                let id = self.id()?;
                self.place.id = id;
                Event::Allocate { id, bytes: varint::take(&mut self.bytes)?, stream: self.stream(*tag)? }
            }
            FREE => Event::Free { id: self.id()? },
            RECORD => Event::RecordStream { id: self.id()?, stream: self.stream(*tag)? },
            SYNCHRONIZE => Event::Synchronize,
            _ => Event::Mark(self.labels.next()?.clone()),
        };
        Some(TraceLine { line: self.place.line, event })
    }

    #[inline]
    fn id(&mut self) -> Option<u64> {
        Some(varint::at_distance(self.place.id, varint::take(&mut self.bytes)?))
    }

    #[inline]
    fn stream(&mut self, tag: u8) -> Option<u64> {
        if tag & HAS_STREAM == 0 { Some(0) } else { varint::take(&mut self.bytes) }
    }
}

impl Iterator for TraceEvents<'_> {
    type Item = Result<TraceLine, ReplayError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.decode().map(Ok)
    }
}

impl EventSource for TraceEvents<'_> {
    fn name(&self) -> &str {
        &self.trace.name
    }

    fn headers(&self) -> &[Header] {
        &self.trace.headers
    }

    fn is_lenient(&self) -> bool {
        self.trace.is_lenient
    }

    fn skipped(&self) -> Skipped {
        self.trace.skipped
    }
}
