//! The parser's callbacks. Knows what may stand where in a snapshot and builds records as keys
//! arrive; refuses to build a tree of the whole file.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use smallvec::SmallVec;

use super::values::{Extra, Pair};
use crate::Error;
use crate::emit::HEADER_KEYS;
use crate::limits::{Budget, Limits};
use crate::model::{
    Annotation, Block, FieldValue, FrameId, FrameRecord, Key, KeyTracker, Record, RecordBuilder, Segment, Slot,
    Snapshot, SnapshotForm, StackId, StackTable, StrId, TraceEntry, Value, ValueType,
};

/// State of one reading.
pub(super) struct Context {
    pub(super) stacks: StackTable,
    pub(super) budget: Budget,
    /// The first error of our own; the parser only carries its message.
    pub(super) error: Option<Error>,
    pub(super) max_depth: usize,
    pub(super) n_extra_values: u64,
    pub(super) max_extra_values: u64,
}

impl Context {
    pub(super) fn new(limits: &Limits, budget: Budget) -> Self {
        Self {
            stacks: StackTable::new(),
            budget,
            error: None,
            max_depth: limits.depth(),
            n_extra_values: 0,
            max_extra_values: limits.max_extra_values,
        }
    }

    /// Keeps an error aside and gives the parser something to stop with.
    pub(super) fn fail<E: serde::de::Error>(&mut self, error: Error) -> E {
        let message = E::custom(&error);
        self.error.get_or_insert(error);
        message
    }

    pub(super) fn keep<T, E: serde::de::Error>(&mut self, result: Result<T, Error>) -> Result<T, E> {
        result.map_err(|error| self.fail(error))
    }

    pub(super) fn text<E: serde::de::Error>(&mut self, text: &str) -> Result<StrId, E> {
        let id = self.stacks.intern_text(text);
        let checked = self.budget.check(self.stacks.memory_bytes());
        self.keep(checked)?;
        Ok(id)
    }
}

/// The whole file.
pub(super) struct Top<'c>(pub(super) &'c mut Context);

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

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Snapshot, A::Error> {
        let mut snapshot = Snapshot::bare(StackTable::new(), SnapshotForm::SegmentList);
        snapshot.segments = collect(self.0, &mut items, |context| RecordSeed::<Segment>(context, PhantomData))?;
        snapshot.finish(std::mem::take(&mut self.0.stacks), Vec::new(), &KeyTracker::default());
        Ok(snapshot)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Snapshot, A::Error> {
        let context = self.0;
        let mut snapshot = Snapshot::bare(StackTable::new(), SnapshotForm::Full);
        let mut keys = KeyTracker::default();
        let mut extras: Vec<(StrId, Value)> = Vec::new();
        let mut has_segments = false;
        while let Some(key) = map.next_key_seed(KeySeed(context))? {
            let header = HEADER_KEYS.into_iter().find(|header| header.id() == key);
            let pushed = keys.push(key, header.is_none());
            if !context.keep(pushed)? {
                return Err(A::Error::custom(format_args!("key `{}` twice", context.stacks.text(key))));
            }
            match header {
                None => extras.push((key, map.next_value_seed(Extra::new(context))?)),
                Some(Key::AllocatorSettings) => {
                    snapshot.allocator_settings = Some(map.next_value_seed(Extra::new(context))?);
                }
                Some(Key::DeviceTraces) => snapshot.device_traces = Some(map.next_value_seed(Traces(context))?),
                Some(Key::ExternalAnnotations) => {
                    snapshot.external_annotations = Some(map.next_value_seed(records::<Annotation>(context))?);
                }
                Some(Key::HostSegments) => {
                    snapshot.host_segments = Some(map.next_value_seed(records::<Segment>(context))?);
                }
                Some(Key::HostTraces) => {
                    snapshot.host_traces = Some(map.next_value_seed(records::<TraceEntry>(context))?);
                }
                Some(_) => {
                    snapshot.segments = map.next_value_seed(records::<Segment>(context))?;
                    has_segments = true;
                }
            }
        }
        if !has_segments {
            return Err(context.fail(Error::MissingKey { record: "snapshot", key: Key::Segments.text() }));
        }
        snapshot.finish(std::mem::take(&mut context.stacks), extras, &keys);
        Ok(snapshot)
    }
}

/// A key of an object.
pub(super) struct KeySeed<'c>(pub(super) &'c mut Context);

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = StrId;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<StrId, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = StrId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<StrId, E> {
        self.0.text(text)
    }
}

/// Collects a list whose items come from the same kind of seed.
fn collect<'de, 'c, A, S, T>(
    context: &'c mut Context,
    items: &mut A,
    seed: impl for<'s> Fn(&'s mut Context) -> RecordSeed<'s, S>,
) -> Result<Vec<T>, A::Error>
where
    A: SeqAccess<'de>,
    S: Record,
    RecordSeed<'c, S>: Sized,
    T: From<S>,
{
    let mut result = Vec::new();
    while let Some(item) = items.next_element_seed(seed(context))? {
        let pushed = context.budget.push(&mut result, T::from(item));
        context.keep(pushed)?;
    }
    Ok(result)
}
