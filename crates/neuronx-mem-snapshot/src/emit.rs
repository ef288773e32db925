//! Walks a snapshot in file order. Knows which key comes after which and what is present; refuses
//! to know how a format spells a value: that is the sink's business.

use crate::Error;
use crate::limits::{LimitKind, MAX_DEPTH};
use crate::model::{
    Annotation, Fields, Key, PoolId, Record, Segment, Slot, Snapshot, SnapshotForm, StackId, StackTable,
    StrId, TraceEntry, Value,
};

/// Receives a structure piece by piece. Before every value in a list comes `item`, before every
/// value in a dict `key`; `n` is the number of items or pairs.
pub(crate) trait Sink {
    fn begin_dict(&mut self, n: usize) -> Result<(), Error>;
    fn end_dict(&mut self, n: usize) -> Result<(), Error>;
    fn key(&mut self, key: StrId) -> Result<(), Error>;
    /// A dict key that is not a number into the table.
    fn value_key(&mut self, key: &Value) -> Result<(), Error>;
    fn begin_list(&mut self, n: usize) -> Result<(), Error>;
    fn item(&mut self, position: usize) -> Result<(), Error>;
    fn end_list(&mut self, n: usize) -> Result<(), Error>;
    fn begin_tuple(&mut self, n: usize) -> Result<(), Error>;
    fn tuple_item(&mut self, position: usize) -> Result<(), Error>;
    fn end_tuple(&mut self, n: usize) -> Result<(), Error>;
    fn none(&mut self) -> Result<(), Error>;
    fn bool(&mut self, value: bool) -> Result<(), Error>;
    fn int(&mut self, value: i128) -> Result<(), Error>;
    fn float(&mut self, value: f64) -> Result<(), Error>;
    fn text(&mut self, id: StrId) -> Result<(), Error>;
    fn raw_text(&mut self, text: &str) -> Result<(), Error>;
    fn pool(&mut self, id: PoolId) -> Result<(), Error>;
    fn stack(&mut self, id: StackId) -> Result<(), Error>;
}

/// Sends the whole snapshot.
pub(crate) fn emit_snapshot(snapshot: &Snapshot, sink: &mut impl Sink) -> Result<(), Error> {
    let stacks = snapshot.stacks();
    if snapshot.form() == SnapshotForm::SegmentList {
        return emit_records(&snapshot.segments, stacks, sink);
    }
    let header = Header { snapshot, stacks };
    // No format needs the exact number, only whether the dict is empty; it has `segments`.
    sink.begin_dict(1)?;
    in_order(&header, snapshot.order().map(|order| stacks.order(order)), sink)?;
    sink.end_dict(1)
}

/// Sends a list of records.
pub(crate) fn emit_records<R: Record>(
    records: &[R],
    stacks: &StackTable,
    sink: &mut impl Sink,
) -> Result<(), Error> {
    sink.begin_list(records.len())?;
    for (position, record) in records.iter().enumerate() {
        sink.item(position)?;
        emit_record(record, stacks, sink)?;
    }
    sink.end_list(records.len())
}

/// Sends one record.
#[inline]
pub(crate) fn emit_record<R: Record>(
    record: &R,
    stacks: &StackTable,
    sink: &mut impl Sink,
) -> Result<(), Error> {
    sink.begin_dict(1)?;
    let core = record.core();
    match core.order() {
        None => {
            for &(key, slot) in R::SCHEMA.keys {
                emit_slot(record, key.id(), slot, stacks, sink)?;
            }
            if let Some(extras) = core.extras() {
                for (key, value) in stacks.extras(extras) {
                    sink.key(*key)?;
                    emit_value(value, 0, sink)?;
                }
            }
        }
        order => in_order(&RecordDict { record, stacks }, order.map(|order| stacks.order(order)), sink)?,
    }
    sink.end_dict(1)
}

/// A dict whose keys may come in any order.
trait OrderedDict<S> {
    /// Its known keys in canonical order.
    fn known_keys(&self) -> impl Iterator<Item = StrId>;
    fn extras(&self) -> &[(StrId, Value)];
    /// Sends key and value if the known key is present, and says whether it was.
    fn emit_known(&self, key: StrId, sink: &mut S) -> Result<bool, Error>;
}

/// Sends the keys of `order` first, then the others in canonical order.
fn in_order<S: Sink>(dict: &impl OrderedDict<S>, order: Option<&[StrId]>, sink: &mut S) -> Result<(), Error> {
    let order = order.unwrap_or_default();
    for &key in order {
        emit_key(dict, key, sink)?;
    }
    for key in dict.known_keys().filter(|key| !order.contains(key)) {
        dict.emit_known(key, sink)?;
    }
    for (key, value) in dict.extras().iter().filter(|(key, _)| !order.contains(key)) {
        sink.key(*key)?;
        emit_value(value, 0, sink)?;
    }
    Ok(())
}

fn emit_key<S: Sink>(dict: &impl OrderedDict<S>, key: StrId, sink: &mut S) -> Result<(), Error> {
    if dict.emit_known(key, sink)? {
        return Ok(());
    }
    let Some((_, value)) = dict.extras().iter().find(|(extra, _)| *extra == key) else { return Ok(()) };
    sink.key(key)?;
    emit_value(value, 0, sink)
}

struct RecordDict<'a, R> {
    record: &'a R,
    stacks: &'a StackTable,
}

impl<R: Record, S: Sink> OrderedDict<S> for RecordDict<'_, R> {
    fn known_keys(&self) -> impl Iterator<Item = StrId> {
        R::SCHEMA.keys.iter().map(|(key, _)| key.id())
    }

    fn extras(&self) -> &[(StrId, Value)] {
        self.record.core().extras().map_or(&[], |extras| self.stacks.extras(extras))
    }

    fn emit_known(&self, key: StrId, sink: &mut S) -> Result<bool, Error> {
        emit_slot(self.record, key, R::SCHEMA.slot(key), self.stacks, sink)
    }
}

/// The top level.
struct Header<'a> {
    snapshot: &'a Snapshot,
    stacks: &'a StackTable,
}

impl<S: Sink> OrderedDict<S> for Header<'_> {
    fn known_keys(&self) -> impl Iterator<Item = StrId> {
        HEADER_KEYS.into_iter().map(Key::id)
    }

    fn extras(&self) -> &[(StrId, Value)] {
        self.snapshot.extras()
    }

    fn emit_known(&self, key: StrId, sink: &mut S) -> Result<bool, Error> {
        let Some(known) = HEADER_KEYS.into_iter().find(|known| known.id() == key) else { return Ok(false) };
        let snapshot = self.snapshot;
        match known {
            Key::DeviceTraces => {
                let Some(traces) = &snapshot.device_traces else { return Ok(false) };
                sink.key(key)?;
                emit_traces(traces, self.stacks, sink)?;
            }
            Key::AllocatorSettings => {
                let Some(settings) = &snapshot.allocator_settings else { return Ok(false) };
                sink.key(key)?;
                emit_value(settings, 0, sink)?;
            }
            Key::ExternalAnnotations => {
                return emit_part::<Annotation>(
                    key,
                    snapshot.external_annotations.as_deref(),
                    self.stacks,
                    sink,
                );
            }
            Key::HostSegments => {
                return emit_part::<Segment>(key, snapshot.host_segments.as_deref(), self.stacks, sink);
            }
            Key::HostTraces => {
                return emit_part::<TraceEntry>(key, snapshot.host_traces.as_deref(), self.stacks, sink);
            }
            _ => return emit_part::<Segment>(key, Some(&snapshot.segments), self.stacks, sink),
        }
        Ok(true)
    }
}

/// The keys of the top level in canonical order.
pub(crate) const HEADER_KEYS: [Key; 6] = [
    Key::Segments,
    Key::DeviceTraces,
    Key::AllocatorSettings,
    Key::ExternalAnnotations,
    Key::HostSegments,
    Key::HostTraces,
];

fn emit_part<R: Record>(
    key: StrId,
    records: Option<&[R]>,
    stacks: &StackTable,
    sink: &mut impl Sink,
) -> Result<bool, Error> {
    let Some(records) = records else { return Ok(false) };
    sink.key(key)?;
    emit_records(records, stacks, sink)?;
    Ok(true)
}

fn emit_traces(traces: &[Vec<TraceEntry>], stacks: &StackTable, sink: &mut impl Sink) -> Result<(), Error> {
    sink.begin_list(traces.len())?;
    for (position, trace) in traces.iter().enumerate() {
        sink.item(position)?;
        emit_records(trace, stacks, sink)?;
    }
    sink.end_list(traces.len())
}

/// Sends key and value of a slot if it is filled, and says whether it was.
#[inline]
fn emit_slot<R: Record>(
    record: &R,
    key: StrId,
    slot: Slot,
    stacks: &StackTable,
    sink: &mut impl Sink,
) -> Result<bool, Error> {
    let core = record.core();
    match slot {
        Slot::Unknown => return Ok(false),
        Slot::Int(index) => {
            let Some(value) = core.int(usize::from(index)) else { return Ok(false) };
            sink.key(key)?;
            sink.int(value)?;
        }
        Slot::Text(index) => {
            let Some(id) = core.text(usize::from(index)) else { return Ok(false) };
            sink.key(key)?;
            sink.text(id)?;
        }
        Slot::Flag => {
            let Some(flag) = core.flag() else { return Ok(false) };
            sink.key(key)?;
            sink.bool(flag)?;
        }
        Slot::Pool => {
            let Some(pool) = core.pool() else { return Ok(false) };
            sink.key(key)?;
            sink.pool(pool)?;
        }
        Slot::Stack => {
            let Some(stack) = core.stack() else { return Ok(false) };
            sink.key(key)?;
            sink.stack(stack)?;
        }
        Slot::Blocks => {
            let Some(blocks) = record.blocks() else { return Ok(false) };
            sink.key(key)?;
            emit_records(blocks, stacks, sink)?;
        }
    }
    Ok(true)
}

/// Sends a value; `depth` counts the containers around it.
pub(crate) fn emit_value(value: &Value, depth: usize, sink: &mut impl Sink) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(LimitKind::Depth.error(MAX_DEPTH as u64));
    }
    match value {
        Value::None => sink.none(),
        Value::Bool(value) => sink.bool(*value),
        Value::Int(value) => sink.int(*value),
        Value::Float(value) => sink.float(*value),
        Value::Str(text) => sink.raw_text(text),
        Value::List(items) => {
            sink.begin_list(items.len())?;
            emit_items(items, depth, sink)?;
            sink.end_list(items.len())
        }
        Value::Tuple(items) => {
            sink.begin_tuple(items.len())?;
            for (position, item) in items.iter().enumerate() {
                sink.tuple_item(position)?;
                emit_value(item, depth + 1, sink)?;
            }
            sink.end_tuple(items.len())
        }
        Value::Dict(pairs) => {
            sink.begin_dict(pairs.len())?;
            for (key, value) in pairs.iter() {
                sink.value_key(key)?;
                emit_value(value, depth + 1, sink)?;
            }
            sink.end_dict(pairs.len())
        }
    }
}

fn emit_items(items: &[Value], depth: usize, sink: &mut impl Sink) -> Result<(), Error> {
    for (position, item) in items.iter().enumerate() {
        sink.item(position)?;
        emit_value(item, depth + 1, sink)?;
    }
    Ok(())
}
