//! The verb `env`: every variable with its type, its default, the value in force and what is wrong.
//!
//! Changes nothing and obeys nothing: it says what the programs that read the variables would see.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};
use neuronx_mem_config::{EnvFinding, EnvRow, Environment, Group, lint, markdown, table};
use serde::Serialize;

use crate::arguments::EnvArguments;
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::{finding, json};

/// From this width of the output on there is place for the type and the default.
const WIDE: usize = 110;

/// Variable, value, source; type and default behind them where there is place.
const COLUMNS: [&str; 5] = ["Variable", "Value", "Source", "Type", "Default"];

/// The columns of a narrow table.
const N_NARROW: usize = 3;

/// Columns that give way, and down to which width: source and default first, because prose breaks at
/// blanks and values do not.
const FLEXIBLE: [(&[usize], usize); 5] =
    [(&[2, 4], 14), (&[1], 24), (&[2, 4], 12), (&[1], 10), (&[2, 4], 10)];

pub(crate) fn run(arguments: &EnvArguments) -> Result<Answer, Failure> {
    if arguments.markdown {
        output::print(&markdown())?;
        return Ok(Answer::Yes);
    }
    let environment = Environment::process();
    let mut variables = table(environment);
    if arguments.set {
        variables.retain(is_remarkable);
    }
    let findings = lint(environment);
    let answer = finding::answer(findings.iter().map(EnvFinding::severity));
    output::print(&if arguments.json {
        json::line(&Env { schema: json::SCHEMA, variables, findings })?
    } else {
        tables(&variables, output::width()) + &lines(&findings)
    })?;
    Ok(answer)
}

/// The object of `env --json`.
#[derive(Serialize)]
struct Env {
    schema: u32,
    variables: Vec<EnvRow>,
    findings: Vec<EnvFinding>,
}

/// Set to something, even if that cannot be used.
fn is_remarkable(row: &EnvRow) -> bool {
    matches!(row.source.as_str(), "set" | "invalid") || !row.problems.is_empty()
}

/// A table a group, all with the same columns.
fn tables(rows: &[EnvRow], total_width: usize) -> String {
    let n_columns = if total_width < WIDE { N_NARROW } else { COLUMNS.len() };
    let widths = widths(rows, n_columns, total_width);
    let groups = Group::ALL.iter().map(|&group| {
        let mut rows = rows.iter().filter(|row| row.group == group).peekable();
        if rows.peek().is_none() {
            return String::new();
        }
        format!("{}\n{}\n\n", group.title(), group_table(rows, &widths))
    });
    groups.collect()
}

fn group_table<'a>(rows: impl Iterator<Item = &'a EnvRow>, widths: &[usize]) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(&COLUMNS[..widths.len()]);
    for row in rows {
        table.add_row(&cells(row)[..widths.len()]);
    }
    for (column, width) in table.column_iter_mut().zip(widths) {
        // With a blank on each side.
        let width = u16::try_from(width + 2).unwrap_or(u16::MAX);
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
    }
    table.trim_fmt()
}

/// In the order of [`COLUMNS`]. A default is shown where the value is another text.
fn cells(row: &EnvRow) -> [String; COLUMNS.len()] {
    let source = match row.problems.iter().map(EnvFinding::severity).max() {
        Some(severity) => format!("{}, {severity}", row.source),
        None => row.source.clone(),
    };
    let value = value(row);
    let default = if value == row.default { String::new() } else { row.default.clone() };
    [row.name.to_owned(), value, source, row.kind.to_owned(), default]
}

/// An empty text is shown as one; a value that nobody here knows as a dash.
fn value(row: &EnvRow) -> String {
    let is_text = row.source == "set" || row.default == "\"\"";
    match row.value.as_str() {
        "" if is_text => "\"\"".to_owned(),
        "" => "-".to_owned(),
        value => value.to_owned(),
    }
}

/// What each column needs; the widest of those that give way does so until the table fits.
fn widths(rows: &[EnvRow], n_columns: usize, total_width: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = COLUMNS[..n_columns].iter().map(|name| name.len()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(cells(row)) {
            *width = (*width).max(cell.chars().count());
        }
    }
    // A bar at each side of a column, and a blank at each side of a cell.
    let frame = 3 * n_columns + 1;
    loop {
        let Some(widest) = FLEXIBLE.iter().find_map(|step| widest(*step, &widths)) else {
            return widths;
        };
        if widths.iter().sum::<usize>() + frame <= total_width {
            return widths;
        }
        widths[widest] -= 1;
    }
}

/// The widest of these columns that is wider than the minimum.
fn widest((columns, minimum): (&[usize], usize), widths: &[usize]) -> Option<usize> {
    let wide = |idx: &usize| widths.get(*idx).is_some_and(|width| *width > minimum);
    columns.iter().copied().filter(wide).max_by_key(|idx| widths[*idx])
}

fn lines(findings: &[EnvFinding]) -> String {
    if findings.is_empty() {
        return "No findings\n".to_owned();
    }
    let lines = findings.iter().map(|finding| finding::line(finding.severity(), finding));
    format!("Findings\n{}", lines.collect::<String>())
}
