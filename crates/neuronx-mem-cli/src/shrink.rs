//! The verb `shrink`: the few events of a trace that still show an effect.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use neuronx_mem::stats::format_count;
use neuronx_mem_replay::{Trace, TraceInput, TraceReader, write_trace};
use neuronx_mem_tune::{Effect, Shrunk, Sizes, shrink};
use serde::Serialize;

use crate::arguments::MachineArguments;
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::size::parse_size;
use crate::target::{self, Kind};
use crate::{config, json, units};

#[derive(Debug, Args)]
pub(crate) struct ShrinkArguments {
    /// Trace or snapshot to shrink; `-` is standard input
    #[arg(value_name = "INPUT")]
    pub(crate) input: OsString,
    /// What the result must still show: oom, or reserved_peak, allocated_peak, active_peak or
    /// num_device_alloc above a number, as in 'reserved_peak>10GiB'
    #[arg(long, value_name = "EFFECT", default_value = "oom", value_parser = parse_effect)]
    pub(crate) until: Effect,
    /// Trace to write: .csv, .csv.gz or .csv.zst; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Only leave events out; without it, tensors that live at the same time may become one of the
    /// size of both
    #[arg(long)]
    pub(crate) keep_sizes: bool,
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
    /// Allocator configuration; without it TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG applies
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub(crate) config: Option<String>,
    /// Skip and count wrong lines instead of refusing the trace
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    input: &'a str,
    effect: String,
    events_before: u64,
    events: usize,
    tried: u64,
    reserved_peak: u64,
    num_ooms: u64,
}

pub(crate) fn parse_effect(text: &str) -> Result<Effect, String> {
    Effect::parse(text, |number| parse_size(number).ok()).map_err(|fault| fault.to_string())
}

pub(crate) fn run(arguments: &ShrinkArguments) -> Result<Answer, Failure> {
    let is_stdout = arguments.output.as_os_str() == "-";
    let kind = if is_stdout { Kind::Csv } else { Kind::of_name(&arguments.output)? };
    let Some(compression) = kind.compression() else {
        return Err(Failure::NotATraceName { path: arguments.output.clone() });
    };
    let trace = Trace::read_input(&TraceInput::from_argument(&arguments.input), arguments.lenient)?;
    let chosen = config::choose(arguments.config.as_deref())?;
    let sizes = if arguments.keep_sizes { Sizes::Kept } else { Sizes::Merged };
    let shrunk = shrink(&trace, &chosen.config, &arguments.machine.machine(), &arguments.until, sizes)?;
    let text = as_text(&shrunk, &arguments.until)?;
    target::write(&arguments.output, |out| {
        Ok(write_trace(TraceReader::new(text.as_slice(), trace.name()), out, compression)?)
    })?;
    if is_stdout {
        return Ok(Answer::Yes);
    }
    let object = Object {
        schema: json::SCHEMA,
        input: trace.name(),
        effect: arguments.until.to_string(),
        events_before: trace.n_events(),
        events: shrunk.events.len(),
        tried: shrunk.n_tried,
        reserved_peak: shrunk.after.reserved_peak_bytes,
        num_ooms: shrunk.after.num_ooms(),
    };
    let text = if arguments.json { json::line(&object)? } else { text_of(&object, arguments) };
    output::print(&text)?;
    Ok(Answer::Yes)
}

fn text_of(object: &Object<'_>, arguments: &ShrinkArguments) -> String {
    let rows = [
        ("Input", object.input.to_owned()),
        ("Effect", object.effect.clone()),
        (
            "Events",
            format!("{} of {}", format_count(object.events as u64), format_count(object.events_before)),
        ),
        ("Peak reserved", units::bytes(object.reserved_peak)),
        ("Traces tried", format_count(object.tried)),
        ("Written", arguments.output.display().to_string()),
    ];
    rows.iter().map(|(name, value)| format!("{:<18} {value}\n", format!("{name}:"))).collect()
}

/// The events as a trace.
fn as_text(shrunk: &Shrunk, effect: &Effect) -> Result<Vec<u8>, Failure> {
    let mut writer = neuronx_mem_replay::TraceWriter::new(Vec::new());
    writer.header("shrunk", &effect.to_string())?;
    for event in &shrunk.events {
        writer.event(event)?;
    }
    Ok(writer.finish()?)
}
