//! The top level of a file and its lists, as the parser's callbacks. Knows what may stand where in a
//! snapshot; refuses to build a tree of the whole file.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::context::Context;
use super::records::{KeySeed, RecordSeed};
use super::values::ValueSeed;
use crate::Error;
use crate::emit::HEADER_KEYS;
use crate::model::{
    Key, KeyTracker, Record, Segment, Snapshot, SnapshotForm, StackTable, StrId, TraceEntry, Value,
};

/// The whole file.
pub(super) struct Top<'c>(pub(super) &'c mut Context);

/// A list of dicts of one kind, or null.
pub(super) struct Records<'c, R>(&'c mut Context, PhantomData<R>);

/// A list of lists of trace entries, or null.
struct Traces<'c>(&'c mut Context);

impl<'de> DeserializeSeed<'de> for Top<'_> {
    type Value = Snapshot;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Snapshot, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = Snapshot;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a snapshot: an object or a list of segments")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Snapshot, A::Error> {
        let context = self.0;
        let mut snapshot = Snapshot::bare(StackTable::new(), SnapshotForm::SegmentList);
        snapshot.segments = collect::<Segment, A>(context, items)?;
        snapshot.finish(std::mem::take(&mut context.stacks), Vec::new(), KeyTracker::default());
        Ok(snapshot)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Snapshot, A::Error> {
        let context = self.0;
        let mut snapshot = Snapshot::bare(StackTable::new(), SnapshotForm::Full);
        let mut keys = KeyTracker::default();
        let mut extras: Vec<(StrId, Value)> = Vec::new();
        let mut segments: Option<Vec<Segment>> = None;
        while let Some(key) = map.next_key_seed(KeySeed(context))? {
            let extra = match HEADER_KEYS.into_iter().find(|header| header.id() == key) {
                None => Some(map.next_value_seed(ValueSeed::new(context))?),
                Some(Key::AllocatorSettings) => {
                    let settings = map.next_value_seed(ValueSeed::new(context))?;
                    snapshot.allocator_settings = (settings != Value::None).then_some(settings);
                    none_if_absent(&snapshot.allocator_settings)
                }
                Some(Key::DeviceTraces) => {
                    snapshot.device_traces = map.next_value_seed(Traces(context))?;
                    none_if_absent(&snapshot.device_traces)
                }
                Some(Key::ExternalAnnotations) => {
                    snapshot.external_annotations = map.next_value_seed(Records(context, PhantomData))?;
                    none_if_absent(&snapshot.external_annotations)
                }
                Some(Key::HostSegments) => {
                    snapshot.host_segments = map.next_value_seed(Records(context, PhantomData))?;
                    none_if_absent(&snapshot.host_segments)
                }
                Some(Key::HostTraces) => {
                    snapshot.host_traces = map.next_value_seed(Records(context, PhantomData))?;
                    none_if_absent(&snapshot.host_traces)
                }
                Some(_) => {
                    segments = map.next_value_seed(Records(context, PhantomData))?;
                    none_if_absent(&segments)
                }
            };
            let pushed = keys.push(key, extra.is_some());
            context.keep(pushed)?;
            extras.retain(|(other, _)| *other != key);
            extras.extend(extra.map(|value| (key, value)));
        }
        let Some(segments) = segments else {
            return Err(context.fail(Error::MissingKey { record: "snapshot", key: Key::Segments.text() }));
        };
        snapshot.segments = segments;
        snapshot.finish(std::mem::take(&mut context.stacks), extras, keys);
        Ok(snapshot)
    }
}

/// A known key with null is kept as an unknown one, as the pickle reader does.
fn none_if_absent<T>(part: &Option<T>) -> Option<Value> {
    part.is_none().then_some(Value::None)
}

impl<'de, R: Record> DeserializeSeed<'de> for Records<'_, R> {
    type Value = Option<Vec<R>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, R: Record> Visitor<'de> for Records<'_, R> {
    type Value = Option<Vec<R>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of {} dicts", R::SCHEMA.name)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        collect(self.0, items).map(Some)
    }
}

impl<'de> DeserializeSeed<'de> for Traces<'_> {
    type Value = Option<Vec<Vec<TraceEntry>>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Traces<'_> {
    type Value = Option<Vec<Vec<TraceEntry>>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of traces")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let context = self.0;
        let mut traces = Vec::new();
        while let Some(trace) = items.next_element_seed(Records(context, PhantomData))? {
            let pushed = context.budget.push(&mut traces, trace.unwrap_or_default());
            context.keep(pushed)?;
        }
        Ok(Some(traces))
    }
}

/// The dicts of a list.
pub(super) fn collect<'de, R: Record, A: SeqAccess<'de>>(
    context: &mut Context,
    mut items: A,
) -> Result<Vec<R>, A::Error> {
    let mut records = Vec::new();
    while let Some(record) = items.next_element_seed(RecordSeed::new(context))? {
        let pushed = context.budget.push(&mut records, record);
        context.keep(pushed)?;
    }
    Ok(records)
}
