//! What `tune` prints.

use comfy_table::{CellAlignment, Table, presets};
use neuronx_mem::AllocatorConfig;
use neuronx_mem::config::ALLOCATOR_CONFIG_VARIABLE;
use neuronx_mem::stats::format_count;
use neuronx_mem_tune::{
    Figures, HeldOut, InputTuning, Pick, TuneOptions, Tuning, Validation, Verdict, Workload, explain,
};
use serde::Serialize;

use crate::failure::Failure;
use crate::{config, json, units};

const COLUMNS: [&str; 8] =
    ["Input", "Peak live", "Default", "Best", "Robust", "Best / live", "Robust / live", "Robust change"];

pub(super) fn text(tuning: &Tuning, options: &TuneOptions, workloads: &[Workload]) -> String {
    let live = workloads.iter().map(Workload::live_peak_bytes).max().unwrap_or(0);
    let mut text = pick("Robust", "also good on larger and smaller runs", &tuning.robust, live);
    if tuning.best.config != tuning.robust.config {
        text += "\n";
        text += &pick("Best", "on exactly these inputs", &tuning.best, live);
    }
    text += &format!("\nPeak reserved bytes:\n{}\n", table(&tuning.inputs));
    if let Some(validation) = &tuning.validation {
        text += "\n";
        text += &validated(validation, workloads);
    }
    let segment = units::bytes(options.max_segment_bytes);
    text += &format!("\n{} evaluated; segments up to {segment}", format_count(tuning.evaluated));
    text += if tuning.is_complete { "" } else { "; the time was over before the search was" };
    text + "\n"
}

fn pick(name: &str, why: &str, pick: &Pick, live_peak_bytes: u64) -> String {
    let what = explain(&pick.config, live_peak_bytes);
    if pick.config == AllocatorConfig::default() {
        return format!("{name} ({why}): leave {ALLOCATOR_CONFIG_VARIABLE} unset\n  {what}\n");
    }
    let line = pick.config.to_env_string();
    format!("{name} ({why}):\nexport {ALLOCATOR_CONFIG_VARIABLE}={line}\n  {what}\n")
}

fn table(inputs: &[InputTuning]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(COLUMNS);
    for input in inputs {
        table.add_row([
            input.input.clone(),
            format_count(input.live_peak_bytes),
            reserved(&input.default),
            reserved(&input.best),
            reserved(&input.robust),
            over_live(&input.best, input),
            over_live(&input.robust, input),
            change(&input.default, &input.robust),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn reserved(figures: &Figures) -> String {
    if figures.is_finished() { format_count(figures.reserved_peak_bytes) } else { failed(figures) }
}

fn failed(figures: &Figures) -> String {
    match figures.verdict {
        Verdict::OutOfMemory { event } => format!("out of memory at event {}", format_count(event)),
        _ => "does not run".to_owned(),
    }
}

fn over_live(figures: &Figures, input: &InputTuning) -> String {
    if !figures.is_finished() {
        return String::new();
    }
    format!("{:.4}", figures.reserved_peak_bytes as f64 / input.live_peak_bytes as f64)
}

fn change(before: &Figures, after: &Figures) -> String {
    if !before.is_finished() || !after.is_finished() {
        return String::new();
    }
    units::change(before.reserved_peak_bytes, after.reserved_peak_bytes)
}

fn validated(validation: &Validation, workloads: &[Workload]) -> String {
    let mut text =
        "Tuned without a part, tried on the whole (peak reserved against the defaults):\n".to_owned();
    for one in &validation.held_out {
        let input = workloads.get(one.input_idx).map_or("", Workload::name);
        let part = one.steps.as_ref().map_or(String::new(), |steps| match steps.len() {
            1 => format!(" without step {}", steps.start),
            _ => format!(" without steps {} to {}", steps.start, steps.end.saturating_sub(1)),
        });
        text += &format!("  {input}{part}: {} with {}\n", outcome(one), config::name(&one.config));
    }
    if !validation.is_complete {
        text += "  the time was over before all parts were tried\n";
    }
    text
}

fn outcome(one: &HeldOut) -> String {
    match (one.default.is_finished(), one.picked.is_finished()) {
        (true, true) => change(&one.default, &one.picked),
        (false, true) => {
            format!("fits in {}, the defaults run {}", reserved(&one.picked), failed(&one.default))
        }
        (_, false) => failed(&one.picked),
    }
}

#[derive(Serialize)]
struct Object {
    schema: u32,
    /// Value of the environment variable for the best pick.
    env: String,
    robust_env: String,
    explanation: String,
    inputs: Vec<Input>,
    cross_validation: Vec<Part>,
    evaluated: u64,
    complete: bool,
    seed: u64,
    max_segment: u64,
}

#[derive(Serialize)]
struct Input {
    input: String,
    live_peak: u64,
    default_reserved_peak: u64,
    default_num_ooms: u64,
    tuned_reserved_peak: u64,
    num_ooms: u64,
    robust_reserved_peak: u64,
    robust_num_ooms: u64,
}

#[derive(Serialize)]
struct Part {
    input: String,
    steps: Option<[usize; 2]>,
    env: String,
    change_percent: Option<f64>,
}

pub(super) fn json(tuning: &Tuning, options: &TuneOptions) -> Result<String, Failure> {
    let live = tuning.inputs.iter().map(|input| input.live_peak_bytes).max().unwrap_or(0);
    let name = |idx: usize| tuning.inputs.get(idx).map_or(String::new(), |input| input.input.clone());
    let part = |one: &HeldOut| Part {
        input: name(one.input_idx),
        steps: one.steps.as_ref().map(|steps| [steps.start, steps.end]),
        env: one.config.to_env_string(),
        change_percent: one.change_percent(),
    };
    json::line(&Object {
        schema: json::SCHEMA,
        env: tuning.best.config.to_env_string(),
        robust_env: tuning.robust.config.to_env_string(),
        explanation: explain(&tuning.robust.config, live),
        inputs: tuning.inputs.iter().map(Input::of).collect(),
        cross_validation: tuning.validation.iter().flat_map(|all| &all.held_out).map(part).collect(),
        evaluated: tuning.evaluated,
        complete: tuning.is_complete,
        seed: options.seed,
        max_segment: options.max_segment_bytes,
    })
}

impl Input {
    fn of(input: &InputTuning) -> Self {
        Self {
            input: input.input.clone(),
            live_peak: input.live_peak_bytes,
            default_reserved_peak: input.default.reserved_peak_bytes,
            default_num_ooms: input.default.num_ooms(),
            tuned_reserved_peak: input.best.reserved_peak_bytes,
            num_ooms: input.best.num_ooms(),
            robust_reserved_peak: input.robust.reserved_peak_bytes,
            robust_num_ooms: input.robust.num_ooms(),
        }
    }
}
