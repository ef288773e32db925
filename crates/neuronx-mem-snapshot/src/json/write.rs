//! Writes JSON. Knows commas, quotes and how to repeat a frame cheaply; refuses floats that are not
//! finite and files whose repeated frames would be out of all proportion.

use std::io::Write;

use crate::Error;
use crate::emit::{Sink, emit_record, emit_snapshot};
use crate::limits::{LimitKind, MAX_INLINE_FRAMES};
use crate::model::{
    FrameId, PoolId, Segment, Snapshot, SnapshotForm, StackId, StackTable, StrId, TraceEntry, Value,
};

/// Bytes gathered before they go to the writer.
const CHUNK_BYTES: usize = 64 << 10;

/// Writes a snapshot and flushes. Memory: a chunk and the text of each distinct frame.
pub(crate) fn write_json(snapshot: &Snapshot, out: &mut dyn Write) -> Result<(), Error> {
    if inline_frames(snapshot) > MAX_INLINE_FRAMES {
        return Err(LimitKind::InlineFrames.error(MAX_INLINE_FRAMES));
    }
    let stacks = snapshot.stacks();
    let frames = frame_texts(stacks)?;
    let mut sink =
        JsonSink { out, buffer: Vec::new(), stacks, frames, needs_comma: false, chunk_bytes: CHUNK_BYTES };
    emit_snapshot(snapshot, &mut sink)?;
    sink.flush()?;
    sink.out.flush().map_err(|source| Error::io("flushing the snapshot", source))
}

/// How many frames the file would hold, each repetition counted.
fn inline_frames(snapshot: &Snapshot) -> u64 {
    let stacks = snapshot.stacks();
    let frames_of = |stack: Option<StackId>| stack.map_or(0, |stack| stacks.stack(stack).len() as u64);
    let of_segment = |segment: &Segment| {
        let blocks = segment.blocks().iter().map(|block| frames_of(block.stack()));
        blocks.fold(frames_of(segment.stack()), u64::saturating_add)
    };
    let of_trace = |trace: &Vec<TraceEntry>| {
        trace.iter().map(|entry| frames_of(entry.stack())).fold(0, u64::saturating_add)
    };
    let segments = snapshot.segments.iter().chain(snapshot.host_segments.iter().flatten()).map(of_segment);
    let mut total = segments.fold(0, u64::saturating_add);
    if snapshot.form() == SnapshotForm::Full {
        let traces = snapshot.device_traces.iter().flatten().chain(&snapshot.host_traces).map(of_trace);
        total = traces.fold(total, u64::saturating_add);
    }
    total
}

/// The text of every frame, made once.
fn frame_texts(stacks: &StackTable) -> Result<FrameTexts, Error> {
    let mut texts = FrameTexts { text: Vec::new(), ends: Vec::with_capacity(stacks.n_frames()) };
    let mut nowhere = std::io::sink();
    let nothing = FrameTexts { text: Vec::new(), ends: Vec::new() };
    let mut sink = JsonSink {
        out: &mut nowhere,
        buffer: Vec::new(),
        stacks,
        frames: nothing,
        needs_comma: false,
        // Each frame is taken out of the buffer, never written.
        chunk_bytes: usize::MAX,
    };
    for index in 0..stacks.n_frames() {
        let record = stacks.frame_record(FrameId::from_index(index)).copied().unwrap_or_default();
        sink.needs_comma = false;
        emit_record(&record, stacks, &mut sink)?;
        texts.text.append(&mut sink.buffer);
        texts.ends.push(texts.text.len());
    }
    Ok(texts)
}

struct FrameTexts {
    text: Vec<u8>,
    ends: Vec<usize>,
}

struct JsonSink<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
    stacks: &'a StackTable,
    frames: FrameTexts,
    /// Whether another item or key of the same container came before.
    needs_comma: bool,
    /// The buffer is written out when it reaches this length.
    chunk_bytes: usize,
}

impl FrameTexts {
    fn get(&self, frame: FrameId) -> &[u8] {
        let index = frame.index();
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(index).and_then(|&end| self.text.get(start..end)).unwrap_or(b"{}")
    }
}

impl JsonSink<'_> {
    fn flush_if_full(&mut self) -> Result<(), Error> {
        if self.buffer.len() >= self.chunk_bytes { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let written = self.out.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|source| Error::io("writing the snapshot", source))
    }

    fn comma(&mut self) {
        if self.needs_comma {
            self.buffer.push(b',');
        }
        self.needs_comma = true;
    }

    /// Anything that serde_json can spell by itself.
    fn scalar(&mut self, value: &(impl serde::Serialize + ?Sized)) -> Result<(), Error> {
        serde_json::to_writer(&mut self.buffer, value)
            .map_err(|error| Error::io("writing json", std::io::Error::other(error)))?;
        self.needs_comma = true;
        self.flush_if_full()
    }

    fn open(&mut self, bracket: u8) -> Result<(), Error> {
        self.buffer.push(bracket);
        self.needs_comma = false;
        Ok(())
    }

    fn close(&mut self, bracket: u8) -> Result<(), Error> {
        self.buffer.push(bracket);
        self.needs_comma = true;
        self.flush_if_full()
    }

    fn text_key(&mut self, key: &str) -> Result<(), Error> {
        self.comma();
        self.scalar(key)?;
        self.buffer.push(b':');
        self.needs_comma = false;
        Ok(())
    }
}

impl Sink for JsonSink<'_> {
    fn begin_dict(&mut self, _n: usize) -> Result<(), Error> {
        self.open(b'{')
    }

    fn end_dict(&mut self, _n: usize) -> Result<(), Error> {
        self.close(b'}')
    }

    fn key(&mut self, key: StrId) -> Result<(), Error> {
        let stacks = self.stacks;
        self.text_key(stacks.text(key))
    }

    /// Keys that are no texts are spelled as Python's `json.dumps` does.
    fn value_key(&mut self, key: &Value) -> Result<(), Error> {
        match key {
            Value::Str(text) => self.text_key(text),
            Value::None => self.text_key("null"),
            Value::Bool(value) => self.text_key(if *value { "true" } else { "false" }),
            Value::Int(value) => self.text_key(&value.to_string()),
            // Debug prints the shortest digits that read back, with a fraction, as Python does.
            Value::Float(value) if value.is_finite() => self.text_key(&format!("{value:?}")),
            _ => Err(Error::NotRepresentable { format: "json", what: "a container or infinity as a key" }),
        }
    }

    fn begin_list(&mut self, _n: usize) -> Result<(), Error> {
        self.open(b'[')
    }

    fn item(&mut self, position: usize) -> Result<(), Error> {
        if position > 0 {
            self.buffer.push(b',');
        }
        self.needs_comma = false;
        Ok(())
    }

    fn end_list(&mut self, _n: usize) -> Result<(), Error> {
        self.close(b']')
    }

    fn begin_tuple(&mut self, _n: usize) -> Result<(), Error> {
        self.open(b'[')
    }

    fn tuple_item(&mut self, position: usize) -> Result<(), Error> {
        self.item(position)
    }

    fn end_tuple(&mut self, _n: usize) -> Result<(), Error> {
        self.close(b']')
    }

    fn none(&mut self) -> Result<(), Error> {
        self.scalar(&())
    }

    fn bool(&mut self, value: bool) -> Result<(), Error> {
        self.scalar(&value)
    }

    fn int(&mut self, value: i128) -> Result<(), Error> {
        if let Ok(value) = u64::try_from(value) {
            return self.scalar(&value);
        }
        match i64::try_from(value) {
            Ok(value) => self.scalar(&value),
            Err(_) => Err(Error::NotRepresentable { format: "json", what: "an integer beyond 64 bits" }),
        }
    }

    fn float(&mut self, value: f64) -> Result<(), Error> {
        if !value.is_finite() {
            return Err(Error::NotRepresentable { format: "json", what: "a float that is not finite" });
        }
        self.scalar(&value)
    }

    fn text(&mut self, id: StrId) -> Result<(), Error> {
        let stacks = self.stacks;
        self.scalar(stacks.text(id))
    }

    fn raw_text(&mut self, text: &str) -> Result<(), Error> {
        self.scalar(text)
    }

    fn pool(&mut self, id: PoolId) -> Result<(), Error> {
        let (first, second) = self.stacks.pool(id);
        self.open(b'[')?;
        self.int(first)?;
        self.buffer.push(b',');
        self.int(second)?;
        self.close(b']')
    }

    fn stack(&mut self, id: StackId) -> Result<(), Error> {
        self.open(b'[')?;
        let stacks = self.stacks;
        for (position, &frame) in stacks.stack(id).iter().enumerate() {
            self.item(position)?;
            self.buffer.extend_from_slice(self.frames.get(frame));
        }
        self.close(b']')
    }
}
