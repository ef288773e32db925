//! A trace in JSON lines: one object a line, with the operator and the call stack of each
//! allocation. Knows the keys that matter to memory and ignores the rest.

use std::io::BufRead;

use neuronx_mem_snapshot::{FrameId, StackId, StackTable};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::sources::Lines;
use super::{Input, read_line};
use crate::{Event, Header, ReplayError, TraceInput, TraceLine};

/// Longest line: the stacks of a trace come in one line of a few hundred kilobytes.
const MAX_LINE_BYTES: u64 = 256 << 20;

/// Longest first line that is looked at to tell the format.
const MAX_FIRST_BYTES: u64 = 1 << 20;

/// One line. Which keys it has says what it is.
#[derive(Debug, Deserialize)]
struct Record {
    ev: Option<String>,
    id: Option<u64>,
    bytes: Option<u64>,
    stream: Option<u64>,
    op: Option<String>,
    stack_id: Option<usize>,
    label: Option<String>,
    name: Option<String>,
    /// Frames as `file:line:function`, innermost first.
    stacks: Option<Vec<Vec<String>>>,
    /// A snapshot has these.
    segments: Option<IgnoredAny>,
    device_traces: Option<IgnoredAny>,
}

/// Whether the input starts like a trace in JSON lines: the first line is a whole object, and not a
/// snapshot.
pub(super) fn is_at(input: &TraceInput) -> Result<bool, ReplayError> {
    let mut text = input.open_text()?;
    let start = text.fill_buf().map_err(|source| input.unreadable(0, source))?;
    if start.first() != Some(&b'{') {
        return Ok(false);
    }
    let mut bytes = Vec::new();
    read_line(&mut text, MAX_FIRST_BYTES, &mut bytes).map_err(|source| input.unreadable(0, source))?;
    let record = serde_json::from_slice::<Record>(&bytes);
    Ok(record.is_ok_and(|record| record.segments.is_none() && record.device_traces.is_none()))
}

/// Reads all lines.
pub(super) fn read(mut text: Box<dyn BufRead + Send>, input: &TraceInput) -> Result<Input, ReplayError> {
    let mut reading = Reading::default();
    let mut bytes = Vec::new();
    let mut line = 0;
    while read_line(&mut text, MAX_LINE_BYTES, &mut bytes)
        .map_err(|source| input.unreadable(line, source))?
        .is_some()
    {
        line += 1;
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let wrong = |reason: String| ReplayError::Line { input: input.name(), line, reason };
        let record: Record =
            serde_json::from_slice(&bytes).map_err(|error| wrong(format!("no record: {error}")))?;
        reading.add(line, record).map_err(wrong)?;
    }
    let Reading { table, stacks, events, headers, .. } = reading;
    Input::from_lines(Lines::new(input.name(), headers, events), stacks, table)
}

#[derive(Debug, Default)]
struct Reading {
    table: StackTable,
    /// The stacks by the numbers of the file.
    known: Vec<Vec<FrameId>>,
    stacks: Vec<StackId>,
    events: Vec<TraceLine>,
    headers: Vec<Header>,
}

impl Reading {
    fn add(&mut self, line: u64, record: Record) -> Result<(), String> {
        let Some(kind) = &record.ev else {
            if let Some(name) = record.name {
                self.headers.push(Header { key: "name".to_owned(), value: name });
            }
            for stack in record.stacks.into_iter().flatten() {
                let frames = stack.iter().map(|frame| self.frame(frame)).collect();
                self.known.push(frames);
            }
            return Ok(());
        };
        let id = || record.id.ok_or_else(|| format!("event `{kind}` lacks its id"));
        let stream = record.stream.unwrap_or(0);
        let event = match kind.as_str() {
            "alloc" => {
                let bytes = record.bytes.ok_or("event `alloc` lacks its bytes")?;
                let event = Event::Allocate { id: id()?, bytes, stream };
                let stack = self.stack(&record);
                self.stacks.push(stack);
                event
            }
            "free" => Event::Free { id: id()? },
            "record" | "record_stream" => Event::RecordStream { id: id()?, stream },
            "sync" => Event::Synchronize,
            "mark" => Event::Mark(record.label.unwrap_or_default().into()),
            other => return Err(format!("unknown event `{}`", other.escape_debug())),
        };
        self.events.push(TraceLine { line, event });
        Ok(())
    }

    /// The operator, if known, and the frames behind it.
    fn stack(&mut self, record: &Record) -> StackId {
        let frames = record.stack_id.and_then(|idx| self.known.get(idx)).cloned().unwrap_or_default();
        let op = record.op.as_deref().map(|op| self.table.intern_frame(op, "", 0));
        let frames: Vec<FrameId> = op.into_iter().chain(frames).collect();
        self.table.intern_stack(&frames)
    }

    fn frame(&mut self, text: &str) -> FrameId {
        // File names may hold colons, functions may not.
        let (place, name) = text.rsplit_once(':').unwrap_or((text, ""));
        let (filename, line) = place.rsplit_once(':').unwrap_or((place, ""));
        self.table.intern_frame(name, filename, line.parse().unwrap_or(0))
    }
}
