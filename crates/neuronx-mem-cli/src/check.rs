//! The verb `check`: a run against its memory budget.

mod junit;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bytesize::ByteSize;
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use neuronx_mem::stats::format_count;
use neuronx_mem_replay::{HistoryEvents, OpenedInput, Trace, TraceInput};
use neuronx_mem_tune::{Budget, Checked, Figure, Measured, check_budget, measure, observed_reserved_peak};
use serde::Serialize;

use crate::arguments::MachineArguments;
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::size::parse_size;
use crate::{config, json, target};

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Trace or snapshot to check; `-` is standard input
    #[arg(value_name = "INPUT")]
    input: OsString,
    /// Limits, TOML
    #[arg(long, value_name = "FILE")]
    budget: PathBuf,
    /// Write what was measured into the budget as its new limits; makes the file when there is none
    #[arg(long)]
    update: bool,
    /// Write a JUnit report too
    #[arg(long, value_name = "OUT")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    machine: MachineArguments,
    /// Allocator configuration; without it TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG applies
    #[arg(long, value_name = "KEY=VALUE,…")]
    config: Option<String>,
    /// Skip and count wrong lines instead of refusing the trace
    #[arg(long)]
    lenient: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &CheckArguments) -> Result<Answer, Failure> {
    let old = read_budget(&arguments.budget, arguments.update)?;
    let (trace, observed) = read(arguments)?;
    let chosen = config::choose(arguments.config.as_deref())?;
    let measured = measure(&trace, &chosen.config, &arguments.machine.machine())?;
    if arguments.update {
        let text = old.map_or_else(|| Budget::baseline(&measured), |budget| budget.updated(&measured));
        target::write(&arguments.budget, |out| Ok(out.write_all(text.as_bytes())?))?;
    }
    // After an update the new limits are checked, so that the report shows them.
    let budget = read_budget(&arguments.budget, false)?;
    let checked = budget.map_or_else(Vec::new, |budget| check_budget(&budget, &measured));
    if let Some(path) = &arguments.junit {
        let report = junit::report(&measured, &checked)?;
        target::write(path, |out| Ok(out.write_all(&report)?))?;
    }
    let is_kept = measured.out_of_memory.is_none() && checked.iter().all(Checked::is_kept);
    let text = match arguments.json {
        true => object(&measured, &checked, observed, is_kept)?,
        false => text(&measured, &checked, observed, is_kept),
    };
    output::print(&text)?;
    Ok(if is_kept { Answer::Yes } else { Answer::No })
}

/// The budget; `None` when there is no file and there need be none.
fn read_budget(path: &Path, may_be_missing: bool) -> Result<Option<Budget>, Failure> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if may_be_missing && error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Failure::BudgetUnread { path: path.to_owned(), source }),
    };
    // A limit need not be whole bytes: 5.4GiB is rounded.
    let size = |text: &str| parse_size(text).ok().or_else(|| text.parse().ok().map(|ByteSize(bytes)| bytes));
    let budget = Budget::parse(&text, size);
    budget.map(Some).map_err(|source| Failure::Budget { path: path.to_owned(), source })
}

/// The trace, and what the process that made a snapshot really reserved.
fn read(arguments: &CheckArguments) -> Result<(Trace, Option<u64>), Failure> {
    let input = TraceInput::from_argument(&arguments.input);
    match input.open_any()? {
        OpenedInput::Snapshot(snapshot) => {
            let device = HistoryEvents::devices(&snapshot).first().copied().unwrap_or(0);
            let trace = Trace::read(HistoryEvents::of_device(&snapshot, None, input.name())?)?;
            Ok((trace, observed_reserved_peak(&snapshot, device)))
        }
        OpenedInput::Trace(reader) => Ok((Trace::read(reader.lenient(arguments.lenient))?, None)),
        _ => Ok((Trace::read_input(&input, arguments.lenient)?, None)),
    }
}

fn text(measured: &Measured, checked: &[Checked], observed: Option<u64>, is_kept: bool) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::ASCII_MARKDOWN)
        .set_header(["", "Of", "Figure", "Measured", "Limit", "Allowed"]);
    for one in checked {
        table.add_row([
            if one.is_kept() { "ok".to_owned() } else { "exceeded".to_owned() },
            one.limit.scope.to_string(),
            one.limit.figure.name().to_owned(),
            one.found.map_or("none".to_owned(), |found| shown(one.limit.figure, found)),
            shown(one.limit.figure, one.limit.limit),
            shown(one.limit.figure, one.allowed),
        ]);
    }
    for column in table.column_iter_mut().skip(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = format!("{}:\n\n{table}\n", measured.input);
    if let Some(event) = measured.out_of_memory {
        text += &format!("\nout of memory at event {}\n", format_count(event));
    }
    if let Some(observed) = observed {
        let canonical = measured.value(&neuronx_mem_tune::Scope::Whole, Figure::Reserved).unwrap_or(0.0);
        text += &format!(
            "\nPeak reserved on an empty pool, which is what counts: {} bytes; observed in the process: {} bytes\n",
            shown(Figure::Reserved, canonical),
            format_count(observed)
        );
    }
    text + if is_kept { "\nwithin the budget\n" } else { "\nbudget exceeded\n" }
}

/// Bytes and counts are whole numbers.
fn shown(figure: Figure, value: f64) -> String {
    if figure == Figure::FragmentationIndex {
        return format!("{value:.4}");
    }
    #[expect(clippy::cast_possible_truncation, reason = "bytes and counts are whole numbers")]
    let whole = format_count(value.abs() as u64);
    if value < 0.0 { format!("-{whole}") } else { whole }
}

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    input: &'a str,
    kept: bool,
    out_of_memory_event: Option<u64>,
    observed_reserved_peak: Option<u64>,
    limits: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    of: String,
    figure: &'static str,
    measured: Option<f64>,
    limit: f64,
    allowed: f64,
    kept: bool,
}

fn object(
    measured: &Measured,
    checked: &[Checked],
    observed: Option<u64>,
    is_kept: bool,
) -> Result<String, Failure> {
    let row = |one: &Checked| Row {
        of: one.limit.scope.to_string(),
        figure: one.limit.figure.name(),
        measured: one.found,
        limit: one.limit.limit,
        allowed: one.allowed,
        kept: one.is_kept(),
    };
    json::line(&Object {
        schema: json::SCHEMA,
        input: &measured.input,
        kept: is_kept,
        out_of_memory_event: measured.out_of_memory,
        observed_reserved_peak: observed,
        limits: checked.iter().map(row).collect(),
    })
}
