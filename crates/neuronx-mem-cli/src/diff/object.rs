//! The object of `diff --json`.

use neuronx_mem_explain::{Amounts, Diff, DiffGroup, DiffRow};
use serde::Serialize;

use crate::failure::Failure;
use crate::json;
use crate::site::{JsonFrame, json_frames};

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    a: Side<'a>,
    b: Side<'a>,
    peak_change: i128,
    /// Nothing differs.
    same: bool,
    groups: Vec<Group>,
}

#[derive(Serialize)]
struct Side<'a> {
    input: &'a str,
    peak: u64,
    peak_event: u64,
    peak_phase: &'a str,
    allocations: u64,
    allocated_in_all: u64,
}

#[derive(Serialize)]
struct Group {
    stack: Vec<JsonFrame>,
    /// In place of a stack.
    phase: Option<String>,
    peak_change: i128,
    bytes_change: i128,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    /// The smallest size of the class; it reaches to the double.
    size_from: u64,
    lifetime: &'static str,
    peak_change: i128,
    bytes_change: i128,
    a: Amount,
    b: Amount,
}

#[derive(Serialize)]
struct Amount {
    allocations: u64,
    bytes: u64,
    at_peak: u64,
    at_peak_bytes: u64,
}

pub(super) fn line(names: [&str; 2], diff: &Diff) -> Result<String, Failure> {
    let side = |idx: usize| Side {
        input: names[idx],
        peak: diff.peak_bytes[idx],
        peak_event: diff.peak_event[idx],
        peak_phase: &diff.peak_phase[idx],
        allocations: diff.n_allocations[idx],
        allocated_in_all: diff.allocated_bytes[idx],
    };
    json::line(&Object {
        schema: json::SCHEMA,
        a: side(0),
        b: side(1),
        peak_change: diff.peak_change(),
        same: diff.is_empty(),
        groups: diff.groups.iter().map(|group| Group::of(diff, group)).collect(),
    })
}

impl Group {
    fn of(diff: &Diff, group: &DiffGroup) -> Self {
        Self {
            stack: json_frames(diff.sites.frames(group.site)),
            phase: diff.sites.phase(group.site).map(str::to_owned),
            peak_change: group.at_peak_change(),
            bytes_change: group.bytes_change(),
            rows: group.rows.iter().map(Row::of).collect(),
        }
    }
}

impl Row {
    fn of(row: &DiffRow) -> Self {
        Self {
            size_from: row.size.floor_bytes(),
            lifetime: row.lifetime.name(),
            peak_change: row.at_peak_change(),
            bytes_change: row.bytes_change(),
            a: Amount::of(&row.amounts[0]),
            b: Amount::of(&row.amounts[1]),
        }
    }
}

impl Amount {
    fn of(amounts: &Amounts) -> Self {
        Self {
            allocations: amounts.n_allocations,
            bytes: amounts.bytes,
            at_peak: amounts.n_at_peak,
            at_peak_bytes: amounts.at_peak_bytes,
        }
    }
}
