//! Gives each trace list its entries. Knows that entries were recognised in file order, so that a
//! list is normally a range of the heap's table and can be taken over whole; refuses to give the
//! same range twice without charging for the copy.

use super::convert::Converter;
use super::heap::NodeKind;
use super::val::{Unpacked, Val};
use crate::Error;
use crate::model::{Fields, Record, TraceEntry};

/// A list that is a range of the table.
#[derive(Clone, Copy)]
struct Range {
    list_position: usize,
    start: usize,
    len: usize,
}

/// The entries of each list. The heap's table is used up.
pub(super) fn take(converter: &mut Converter, lists: &[usize]) -> Result<Vec<Vec<TraceEntry>>, Error> {
    let mut traces: Vec<Vec<TraceEntry>> = Vec::new();
    converter.budget.reserve(&mut traces, lists.len())?;
    traces.resize_with(lists.len(), Vec::new);
    let mut ranges: Vec<Range> = Vec::new();
    for (list_position, &list) in lists.iter().enumerate() {
        match range_of(converter, list) {
            // Only ranges behind one another can be split off; lists are written in that order.
            Some((start, len)) if ranges.last().is_none_or(|last| last.start + last.len <= start) => {
                converter.budget.push(&mut ranges, Range { list_position, start, len })?;
            }
            _ => traces[list_position] = copy(converter, list)?,
        }
    }
    // First every stack, while all records are still in place; only then numbers are replaced.
    for range in &ranges {
        for index in range.start..range.start + range.len {
            if let Some(stack) = converter.heap.entries[index].core().stack() {
                converter.stack(stack.index())?;
            }
        }
    }
    let mut table = std::mem::take(&mut converter.heap.entries);
    for range in ranges.into_iter().rev() {
        table.truncate(range.start + range.len);
        if range.start > 0 {
            converter.budget.charge(range.len * size_of::<TraceEntry>())?;
        }
        let mut entries =
            if range.start == 0 { std::mem::take(&mut table) } else { table.split_off(range.start) };
        for entry in &mut entries {
            if let Some(stack) = entry.core().stack() {
                let stack = converter.stack(stack.index())?;
                entry.core_mut().set_stack(Some(stack));
            }
        }
        traces[range.list_position] = entries;
    }
    Ok(traces)
}

/// The range of the table that a list consists of, if it is one.
fn range_of(converter: &Converter, list: usize) -> Option<(usize, usize)> {
    let items = converter.heap.items(list);
    let start = entry_index(converter, *items.first()?)?;
    let mut indices = items.iter().map(|&item| entry_index(converter, item));
    (start..start + items.len())
        .all(|expected| indices.next() == Some(Some(expected)))
        .then_some((start, items.len()))
}

fn entry_index(converter: &Converter, val: Val) -> Option<usize> {
    match val.unpack() {
        Unpacked::Node(node) if converter.heap.kind(node) == NodeKind::Entry => {
            Some(converter.heap.record_index(node))
        }
        _ => None,
    }
}

/// The entries of any other list, one by one.
fn copy(converter: &mut Converter, list: usize) -> Result<Vec<TraceEntry>, Error> {
    let n_items = converter.heap.items(list).len();
    let mut entries = Vec::new();
    converter.budget.reserve(&mut entries, n_items)?;
    for position in 0..n_items {
        let val = converter.heap.items(list)[position];
        let entry = match entry_index(converter, val) {
            Some(index) => {
                let mut entry = converter.heap.entries[index];
                if let Some(stack) = entry.core().stack() {
                    let stack = converter.stack(stack.index())?;
                    entry.core_mut().set_stack(Some(stack));
                }
                entry
            }
            None => converter.record::<TraceEntry>(val)?,
        };
        entries.push(entry);
    }
    Ok(entries)
}
