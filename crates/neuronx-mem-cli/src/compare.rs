//! The verb `compare`: one trace, a row a configuration.

use comfy_table::{CellAlignment, Table, presets};
use neuronx_mem::AllocatorConfig;
use neuronx_mem::stats::format_count;
use neuronx_mem_replay::{Comparison, ReplayReport, Trace, compare};

use crate::arguments::CompareArguments;
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::{config, json, replay, units};

const COLUMNS: [&str; 8] =
    ["", "Config", "OOMs", "Peak reserved", "Change", "Peak allocated", "Segments", "Retries"];

/// Columns from here on are numbers.
const FIRST_NUMBER: usize = 2;

pub(crate) fn run(arguments: &CompareArguments) -> Result<Answer, Failure> {
    let configs = configs(&arguments.configs)?;
    let trace = Trace::read_input(&arguments.trace.input(), arguments.trace.lenient)?;
    let comparison = compare(&trace, &arguments.trace.options(), &configs)?;
    let rows = &comparison.rows;
    rows.first().into_iter().for_each(replay::warn_of_skipped);
    let text = if arguments.trace.json { json::comparison(&comparison)? } else { text(&trace, &comparison) };
    output::print(&text)?;
    let is_out_of_memory = rows.iter().all(|row| row.num_ooms > 0);
    Ok(if is_out_of_memory { Answer::No } else { Answer::Yes })
}

/// Those given, with the defaults in front unless they are among them.
fn configs(texts: &[String]) -> Result<Vec<AllocatorConfig>, Failure> {
    let mut configs = texts.iter().map(|text| config::parse(text)).collect::<Result<Vec<_>, _>>()?;
    if !configs.contains(&AllocatorConfig::default()) {
        configs.insert(0, AllocatorConfig::default());
    }
    Ok(configs)
}

fn text(trace: &Trace, comparison: &Comparison) -> String {
    let rows = &comparison.rows;
    let base = rows.iter().find(|row| row.config == AllocatorConfig::default());
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(COLUMNS);
    for (idx, row) in rows.iter().enumerate() {
        table.add_row(cells(row, base, comparison.best == Some(idx)));
    }
    for column in table.column_iter_mut().skip(FIRST_NUMBER) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let ooms: String = rows.iter().filter_map(out_of_memory).collect();
    format!("{}: {} events\n\n{table}\n{ooms}", trace.name(), format_count(trace.n_events()))
}

fn cells(row: &ReplayReport, base: Option<&ReplayReport>, is_best: bool) -> [String; COLUMNS.len()] {
    // A replay that ended early has a peak, but not the trace's.
    let is_comparable = |base: &&ReplayReport| base.num_ooms == 0 && row.num_ooms == 0;
    let base = base.filter(is_comparable);
    [
        if is_best { "best".to_owned() } else { String::new() },
        config::name(&row.config),
        format_count(row.num_ooms),
        format_count(row.reserved_peak_bytes),
        base.map_or(String::new(), |base| units::change(base.reserved_peak_bytes, row.reserved_peak_bytes)),
        format_count(row.allocated_peak_bytes),
        format_count(row.segments_allocated),
        format_count(row.num_alloc_retries),
    ]
}

fn out_of_memory(row: &ReplayReport) -> Option<String> {
    let oom = row.out_of_memory.as_ref()?;
    let event = format_count(oom.event);
    Some(format!("\n{}: at event {event}: {}\n", config::name(&row.config), oom.error))
}
