//! Turns the key-value pairs of a dict straight into a record. Knows trace entries and blocks,
//! which make up nearly all of a file; refuses anything unusual (unknown keys, repeated keys,
//! other types), which then stays a plain dict for the converter.

use super::heap::{Heap, NodeKind};
use super::val::{Unpacked, Val};
use crate::Error;
use crate::limits::Budget;
use crate::model::{Block, Fields, Key, KeyTracker, Record, Slot, StackTable, StrId, TraceEntry};

/// Puts the pairs into an empty dict as a record; says whether it could.
pub(super) fn compact(
    heap: &mut Heap,
    node: usize,
    pairs: &[Val],
    stacks: &mut StackTable,
    budget: &mut Budget,
) -> Result<bool, Error> {
    match kind_of(pairs) {
        Some(NodeKind::Entry) => match record::<TraceEntry>(pairs, heap, stacks) {
            Some(entry) => heap.set_entry(node, entry, budget)?,
            None => return Ok(false),
        },
        Some(NodeKind::Block) => match record::<Block>(pairs, heap, stacks) {
            Some(block) => heap.set_block(node, block, budget)?,
            None => return Ok(false),
        },
        _ => return Ok(false),
    }
    Ok(true)
}

/// An entry has `action`, a block `state`; no genuine dict has both, and none has many keys.
fn kind_of(pairs: &[Val]) -> Option<NodeKind> {
    const MOST_PAIRS: usize = 16;
    if pairs.len() > 2 * MOST_PAIRS {
        return None;
    }
    let is = |key: Key| move |val: &Val| *val == Val::text(key.id());
    let mut keys = pairs.iter().step_by(2);
    if keys.clone().any(is(Key::Action)) {
        return Some(NodeKind::Entry);
    }
    keys.any(is(Key::State)).then_some(NodeKind::Block)
}

fn record<R: Record>(pairs: &[Val], heap: &Heap, stacks: &mut StackTable) -> Option<R> {
    let mut record = R::empty();
    let mut tracker = KeyTracker::default();
    for &[key, value] in pairs.as_chunks::<2>().0 {
        let key = key.as_text()?;
        let slot = R::SCHEMA.slot(key);
        if slot == Slot::Unknown || !is_new(&mut tracker, key) {
            return None;
        }
        let core = record.core_mut();
        match slot {
            Slot::Int(index) => {
                if !core.set_int(usize::from(index), Some(heap.as_int(value)?)) {
                    return None;
                }
            }
            Slot::Text(index) => core.set_text(usize::from(index), Some(value.as_text()?)),
            Slot::Pool => {
                let Unpacked::Pair(pair) = value.unpack() else { return None };
                core.set_pool(Some(pair));
            }
            Slot::Stack => core.set_stack(Some(heap.as_stack_node(value)?)),
            Slot::Flag | Slot::Blocks | Slot::Unknown => return None,
        }
    }
    let order = tracker.finish(stacks);
    record.core_mut().set_order(order);
    Some(record)
}

fn is_new(tracker: &mut KeyTracker, key: StrId) -> bool {
    tracker.push(key, false).unwrap_or(false)
}
