//! What `convert --anonymize` takes out: names, paths, texts and times. Structure, sizes and order
//! stay; equal texts stay equal.

use std::collections::HashMap;

use neuronx_mem::snapshot::{Format, Limits, Snapshot};
use neuronx_mem_replay::{Event, LiveIds, Trace, TraceReader, TraceWriter};
use serde_json::Value;

use crate::failure::Failure;

/// Stand-ins for texts, numbered by first appearance.
#[derive(Default)]
struct Names {
    known: HashMap<(&'static str, String), usize>,
    n_of: HashMap<&'static str, usize>,
}

impl Names {
    fn of(&mut self, kind: &'static str, text: &str) -> String {
        let Self { known, n_of } = self;
        let number = *known.entry((kind, text.to_owned())).or_insert_with(|| {
            let n = n_of.entry(kind).or_default();
            *n += 1;
            *n
        });
        format!("{kind} {number}")
    }
}

/// A trace without headers, with numbered labels and ids. Lines that do not fit go.
pub(super) fn trace(trace: &Trace) -> Result<Trace, Failure> {
    let mut names = Names::default();
    let mut ids: LiveIds<u64> = LiveIds::new();
    let mut n_ids = 0;
    let mut writer = TraceWriter::new(Vec::new());
    for line in trace.events() {
        let event = match line?.event {
            Event::Allocate { id, bytes, stream } => {
                n_ids += 1;
                ids.allocate(id, n_ids).ok().map(|()| Event::Allocate { id: n_ids, bytes, stream })
            }
            Event::Free { id } => ids.free(id).ok().map(|id| Event::Free { id }),
            Event::RecordStream { id, stream } => {
                ids.recorded(id).ok().map(|id| Event::RecordStream { id: *id, stream })
            }
            Event::Mark(label) => Some(Event::Mark(names.of("mark", &label).into())),
            event @ Event::Synchronize => Some(event),
        };
        event.map_or(Ok(()), |event| writer.event(&event))?;
    }
    let text = writer.finish()?;
    Ok(Trace::read(TraceReader::new(text.as_slice(), "anonymous"))?)
}

/// A snapshot whose texts and times are replaced, and whose unknown texts are gone.
pub(super) fn snapshot(snapshot: &Snapshot) -> Result<Snapshot, Failure> {
    let mut json = Vec::new();
    snapshot.write_to(&mut json, Format::Json)?;
    let mut value: Value = serde_json::from_slice(&json)?;
    let start = earliest(&value).unwrap_or(0);
    replace(&mut value, "", start, &mut Names::default());
    Ok(Snapshot::read_slice(&serde_json::to_vec(&value)?, &Limits::default())?)
}

/// The first time in a snapshot.
fn earliest(value: &Value) -> Option<u64> {
    match value {
        Value::Object(map) => {
            let own = map.get("time_us").and_then(Value::as_u64);
            own.into_iter().chain(map.values().filter_map(earliest)).min()
        }
        Value::Array(items) => items.iter().filter_map(earliest).min(),
        _ => None,
    }
}

/// Texts that are words of the format, not of the program: they stay.
fn is_of_format(key: &str) -> bool {
    matches!(key, "action" | "state" | "segment_type" | "stage" | "category")
}

fn replace(value: &mut Value, key: &str, start: u64, names: &mut Names) {
    match value {
        Value::Object(map) => map.iter_mut().for_each(|(key, value)| replace(value, key, start, names)),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, key, start, names)),
        Value::String(_) if is_of_format(key) => {}
        Value::String(text) => {
            let kind = match key {
                "filename" => "file",
                "name" => "name",
                "user_metadata" => "metadata",
                _ => "text",
            };
            *text = names.of(kind, text);
        }
        Value::Number(number) if key == "time_us" => {
            if let Some(time) = number.as_u64() {
                *number = time.saturating_sub(start).into();
            }
        }
        _ => {}
    }
}
