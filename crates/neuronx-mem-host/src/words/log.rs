//! A whole log: lines to events, tables and lists put together.

use std::collections::BTreeMap;

use super::event::{EventKind, LogEvent};
use super::line::{self, after};
use super::table::{TableReader, UsageRow, UsageScope, UsageTable, list_item};

/// What the lines that follow belong to.
#[derive(Debug)]
enum Part {
    None,
    Table { line: usize, reader: TableReader },
    List { line: usize, row: UsageRow },
}

/// Reads what a log says about memory, in order. Never fails: what is not understood is left out.
/// O(bytes).
///
/// ```
/// use neuronx_mem_host::{EventKind, MemoryKind, read_log};
///
/// let events = read_log("ERROR  TDRV:dmem_alloc_internal  Failed to alloc HOST memory: 3292176\n");
/// let expected = EventKind::AllocationFailed { memory: MemoryKind::Host, bytes: 3_292_176 };
/// assert_eq!(events[0].kind, expected);
/// ```
#[must_use]
pub fn read_log(text: &str) -> Vec<LogEvent> {
    let mut events = Vec::new();
    let mut part = Part::None;
    for (idx, line) in text.lines().enumerate() {
        if belongs(&mut part, line) {
            continue;
        }
        let opened = open(idx + 1, line);
        let event = line::parse(line);
        if event.is_some() || !matches!(opened, Part::None) {
            close(&mut part, &mut events);
        }
        events.extend(event.map(|kind| LogEvent { line: idx + 1, kind }));
        if !matches!(opened, Part::None) {
            part = opened;
        }
    }
    close(&mut part, &mut events);
    events
}

/// Whether the line goes on with a table or a list.
fn belongs(part: &mut Part, line: &str) -> bool {
    match part {
        Part::None => false,
        Part::Table { reader, .. } => reader.push(line) || reader.push_name(line),
        Part::List { row, .. } => match list_item(line) {
            Some((category, bytes)) => {
                row.usage.insert(category, bytes);
                true
            }
            None => false,
        },
    }
}

/// The table or list that a line announces.
fn open(line_number: usize, line: &str) -> Part {
    if line.contains("Current Memory Utilization") {
        return Part::Table { line: line_number, reader: TableReader::default() };
    }
    let scope = if line.contains("current utilization:") || line.contains("] Current Usage Total:") {
        // The older runtime names the core before its list, and sums up that core.
        let place = line::place(line);
        let core = place.and_then(|place| place.core).map(UsageScope::Core);
        core.or_else(|| place.map(|place| UsageScope::Device { device: place.device, stack: None }))
    } else if let Some(name) = after(line, "memory usage breakdown for [") {
        Some(UsageScope::Other(name.split(']').next().unwrap_or_default().to_owned()))
    } else if line.trim_end().ends_with("Overall HBM usage") {
        Some(UsageScope::Other("Overall HBM usage".to_owned()))
    } else {
        None
    };
    let Some(scope) = scope else { return Part::None };
    let mut usage = BTreeMap::new();
    if let Some(total) = after(line, "Usage Total:").and_then(|text| list_item(&format!("* total:{text}"))) {
        usage.extend([total]);
    }
    Part::List { line: line_number, row: UsageRow { scope, usage } }
}

fn close(part: &mut Part, events: &mut Vec<LogEvent>) {
    let (line, table) = match std::mem::replace(part, Part::None) {
        Part::None => return,
        Part::Table { line, reader } => (line, reader.table),
        Part::List { line, row } => {
            let rows = if row.usage.is_empty() { Vec::new() } else { vec![row] };
            (line, UsageTable { rows, models: BTreeMap::new() })
        }
    };
    if !table.rows.is_empty() {
        events.push(LogEvent { line, kind: EventKind::Usage(table) });
    }
}
