//! The audit as text: operators, totals of the modes, and what the words mean. Where five modes do not
//! fit beside each other, only the one asked for has a column.

use std::collections::{BTreeMap, BTreeSet};

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use neuronx_mem::stats::format_count;
use neuronx_mem_int64::{
    AuditReport, AuditRow, Basis, Dtype, Int64Mode, ModeTotals, Path, Reason, Risk, RouteSummary,
};

/// Before the modes.
const FRONT: [&str; 3] = ["Operator", "Calls", "64-bit\nbytes"];

/// Behind them, for one mode.
const BACK: [&str; 2] = ["Bounced", "Risk"];

/// Narrower, names are hard to read.
const MIN_NAME: usize = 16;

/// The longest word among the risks.
const MIN_RISK: usize = 10;

const TOTALS: [&str; 7] = ["Mode", "64-bit", "packed", "int32", "cpu", "Bounced", "At risk"];

pub(super) fn text(name: &str, report: &AuditReport, width: usize) -> String {
    let policy = report.policy;
    let check = if policy.check_overflow { "on" } else { "off" };
    let calls = match report.wide_calls {
        0 => "no call has a 64-bit tensor".to_owned(),
        1 => "1 call has 64-bit tensors".to_owned(),
        n_calls => format!("{} calls have 64-bit tensors", format_count(n_calls)),
    };
    let mut text = format!("{name}: {calls}; mode {}, overflow check {check}\n\n", policy.mode);
    if !report.rows.is_empty() {
        text += &format!("{}\n\n{}\n\n", operators(report, width), totals(report));
    }
    text + &notes(report).into_iter().map(|note| note + "\n").collect::<String>()
}

fn operators(report: &AuditReport, total_width: usize) -> String {
    let wide = grid(report, &Int64Mode::ALL);
    let (cells, widths) = match widths(&wide, total_width) {
        Some(widths) => (wide, widths),
        None => {
            let narrow = grid(report, &[report.policy.mode]);
            let widths = widths(&narrow, total_width).unwrap_or_else(|| least(&narrow));
            (narrow, widths)
        }
    };
    let bounced = cells[0].len() - BACK.len();
    let mut rows = cells.into_iter();
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(rows.next().unwrap_or_default());
    table.add_rows(rows);
    for (number, (column, width)) in table.column_iter_mut().zip(widths).enumerate() {
        // With a blank on each side.
        let width = u16::try_from(width + 2).unwrap_or(u16::MAX);
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
        if number == 1 || number == 2 || number == bounced {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// The header and a row for each operator, with a column for each of these modes.
fn grid(report: &AuditReport, modes: &[Int64Mode]) -> Vec<Vec<String>> {
    // Broken where the line may break, so that five modes fit.
    let names = modes.iter().map(|mode| mode.name().replace('_', "_\n"));
    let header = FRONT.map(str::to_owned).into_iter().chain(names).chain(BACK.map(str::to_owned)).collect();
    let rows = report.rows.iter().map(|row| cells(row, modes, report.policy.mode));
    [header].into_iter().chain(rows).collect()
}

/// What each column needs; names and risks give way until the table fits, the longer one first. `None`
/// when it does not fit even so.
fn widths(cells: &[Vec<String>], total_width: usize) -> Option<Vec<usize>> {
    let mut widths = vec![0; cells.first().map_or(0, Vec::len)];
    for row in cells {
        for (width, cell) in widths.iter_mut().zip(row) {
            let longest = cell.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            *width = (*width).max(longest);
        }
    }
    // A bar at each side of a column, and a blank at each side of a cell.
    let frame = 3 * widths.len() + 1;
    let risk = widths.len().checked_sub(1)?;
    while widths.iter().sum::<usize>() + frame > total_width {
        let (name_spare, risk_spare) =
            (widths[0].saturating_sub(MIN_NAME), widths[risk].saturating_sub(MIN_RISK));
        match (name_spare, risk_spare) {
            (0, 0) => return None,
            (0, _) => widths[risk] -= 1,
            (_, 0) => widths[0] -= 1,
            _ if widths[0] > widths[risk] => widths[0] -= 1,
            _ => widths[risk] -= 1,
        }
    }
    Some(widths)
}

/// What each column needs where nothing fits, so that the lines are longer than asked for.
fn least(cells: &[Vec<String>]) -> Vec<usize> {
    let mut widths = widths(cells, usize::MAX).unwrap_or_default();
    if let [name, .., risk] = &mut widths[..] {
        (*name, *risk) = ((*name).min(MIN_NAME), (*risk).min(MIN_RISK));
    }
    widths
}

fn cells(row: &AuditRow, modes: &[Int64Mode], mode: Int64Mode) -> Vec<String> {
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
    let name = row.operator.strip_prefix("aten.").unwrap_or(&row.operator);
    let operator = match row.dtype {
        Dtype::Float64 => format!("{name} (float64)"),
        _ => name.to_owned(),
    };
    let mut cells = vec![operator, format_count(row.calls), bytes(row.wide_bytes)];
    cells.extend(modes.iter().map(|mode| place(row.route(*mode))));
    cells.extend([bounced, risks(route)]);
    cells
}

/// Where it runs; marked where a value can change without an error.
fn place(route: &RouteSummary) -> String {
    let place = word(route.path);
    if route.is_silent() { format!("{place}!") } else { place.to_owned() }
}

const fn word(path: Path) -> &'static str {
    match path {
        Path::Device64 => "64-bit",
        Path::DevicePacked => "packed",
        Path::DeviceInt32 => "int32",
        _ => "cpu",
    }
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
    let mut notes = reasons(report);
    if rows.iter().any(|row| row.routes.iter().any(RouteSummary::is_silent)) {
        notes.push("!, at risk: values can change without an error".to_owned());
    }
    let risks: BTreeSet<Risk> = rows.iter().flat_map(|row| row.route(mode).risks.iter().copied()).collect();
    notes.extend(risks.into_iter().rev().map(|risk| format!("{risk}: {}", risk.explanation())));
    if rows.iter().any(|row| row.is_lower_bound && !row.is_unsized) {
        notes.push("≥: at least so many bytes, because the input does not record all operands".to_owned());
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
            "left out, because their operands are not recorded: {} calls of comparisons and casts",
            format_count(report.undecided_calls)
        ));
    }
    notes
}

/// Why operators run where they do, in the mode asked for.
fn reasons(report: &AuditReport) -> Vec<String> {
    let mut counts: BTreeMap<(Path, Reason), usize> = BTreeMap::new();
    for route in report.rows.iter().map(|row| row.route(report.policy.mode)) {
        *counts.entry((route.path, route.reason)).or_default() += 1;
    }
    let line = |((path, reason), n): ((Path, Reason), usize)| {
        let operators = if n == 1 { "operator" } else { "operators" };
        format!("{}, {n} {operators}: {reason}", word(path))
    };
    counts.into_iter().map(line).collect()
}

fn is_assumed(row: &AuditRow) -> bool {
    row.basis == Basis::Assumed && row.route(Int64Mode::Native).reason == Reason::Supported
}
