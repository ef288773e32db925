//! The audit as text: operators, totals of the modes, and what the words mean.

use std::collections::BTreeSet;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use neuronx_mem::stats::format_count;
use neuronx_mem_int64::{
    AuditReport, AuditRow, Basis, Dtype, Int64Mode, ModeTotals, Path, Reason, Risk, RouteSummary,
};

/// Before the modes.
const FRONT: [&str; 3] = ["Operator", "Calls", "64-bit bytes"];

/// Behind them, for one mode.
const BACK: [&str; 2] = ["Bounced", "Risk"];

const TOTALS: [&str; 7] = ["Mode", "64-bit", "packed", "int32", "cpu", "Bounced bytes", "Calls at risk"];

pub(super) fn text(name: &str, report: &AuditReport, width: usize) -> String {
    let policy = report.policy;
    let check = if policy.check_overflow { "on" } else { "off" };
    let mut text = format!(
        "{name}: {} of {} calls have 64-bit tensors; mode {}, overflow check {check}\n\n",
        format_count(report.wide_calls),
        format_count(report.calls),
        policy.mode,
    );
    if !report.rows.is_empty() {
        text += &format!("{}\n\n{}\n\n", operators(report, width), totals(report));
    }
    text + &notes(report).into_iter().map(|note| note + "\n").collect::<String>()
}

fn operators(report: &AuditReport, width: usize) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    // Broken where the line may break, so that five modes fit.
    let modes = Int64Mode::ALL.map(|mode| mode.name().replace('_', "_\n"));
    let header = FRONT.map(str::to_owned).into_iter().chain(modes).chain(BACK.map(str::to_owned));
    table.set_header(header);
    for row in &report.rows {
        table.add_row(cells(row, report.policy.mode));
    }
    for (number, column) in table.column_iter_mut().enumerate() {
        if number == 1 || number == 2 || number == FRONT.len() + Int64Mode::ALL.len() {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

fn cells(row: &AuditRow, mode: Int64Mode) -> Vec<String> {
    let bytes = |bytes| match (row.is_unsized, row.is_lower_bound) {
        (true, _) => "-".to_owned(),
        (false, true) => format!("≥ {}", format_count(bytes)),
        (false, false) => format_count(bytes),
    };
    let route = row.route(mode);
    let bounced = match route.path {
        Path::Cpu | Path::DeviceInt32 => bytes(route.bounced.total_bytes()),
        _ => "0".to_owned(),
    };
    let operator = match row.dtype {
        Dtype::Float64 => format!("{} (float64)", row.operator),
        _ => row.operator.clone(),
    };
    let mut cells = vec![operator, format_count(row.calls), bytes(row.wide_bytes)];
    cells.extend(row.routes.iter().map(place));
    cells.extend([bounced, risks(route)]);
    cells
}

/// Where it runs; marked where a value can change without an error.
fn place(route: &RouteSummary) -> String {
    let place = match route.path {
        Path::Device64 => "64-bit",
        Path::DevicePacked => "packed",
        Path::DeviceInt32 => "int32",
        _ => "cpu",
    };
    if route.is_silent() { format!("{place}!") } else { place.to_owned() }
}

/// The worst first.
fn risks(route: &RouteSummary) -> String {
    if route.risks.is_empty() {
        return "-".to_owned();
    }
    route.risks.iter().rev().map(|risk| risk.name()).collect::<Vec<_>>().join(", ")
}

fn totals(report: &AuditReport) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(TOTALS);
    let is_lower_bound = report.rows.iter().any(|row| row.is_lower_bound);
    let is_unsized = report.rows.iter().all(|row| row.is_unsized);
    for total in &report.totals {
        let ModeTotals { mode, device64_calls, packed_calls, int32_calls, cpu_calls, .. } = total;
        let bounced = total.bounced.total_bytes();
        let bounced = match (bounced, int32_calls + cpu_calls) {
            (_, 0) => "0".to_owned(),
            _ if is_unsized => "-".to_owned(),
            _ if is_lower_bound => format!("≥ {}", format_count(bounced)),
            _ => format_count(bounced),
        };
        let calls = [device64_calls, packed_calls, int32_calls, cpu_calls].map(|calls| format_count(*calls));
        let row =
            [mode.to_string()].into_iter().chain(calls).chain([bounced, format_count(total.silent_calls)]);
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

/// What a reader needs to know, and only that.
fn notes(report: &AuditReport) -> Vec<String> {
    let rows = &report.rows;
    let mode = report.policy.mode;
    let mut notes = Vec::new();
    if rows.iter().any(|row| row.routes.iter().any(RouteSummary::is_silent)) {
        notes.push("!: values can change without an error".to_owned());
    }
    let risks: BTreeSet<Risk> = rows.iter().flat_map(|row| row.route(mode).risks.iter().copied()).collect();
    notes.extend(risks.into_iter().rev().map(|risk| format!("{risk}: {}", risk.explanation())));
    if rows.iter().any(|row| row.is_lower_bound && !row.is_unsized) {
        notes.push("≥: the input does not record all operands; theirs may come on top".to_owned());
    }
    if rows.iter().any(|row| row.is_unsized) {
        notes.push("-: sizes are not known from names alone".to_owned());
    }
    let n_assumed = rows.iter().filter(|row| is_assumed(row)).count();
    if n_assumed > 0 {
        notes.push(format!(
            "64-bit on the device is assumed for {n_assumed} of {} operators: no public document lists them",
            rows.len()
        ));
    }
    if report.undecided_calls > 0 {
        notes.push(format!(
            "{} calls of comparisons and casts are left out: their operands are not recorded",
            format_count(report.undecided_calls)
        ));
    }
    notes
}

fn is_assumed(row: &AuditRow) -> bool {
    row.basis == Basis::Assumed && row.route(Int64Mode::Native).reason == Reason::Supported
}
