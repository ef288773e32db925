//! The verb `replay`: one trace, one configuration.

use std::path::Path;

use neuronx_mem::Device;
use neuronx_mem::fragmentation::Analysis;
use neuronx_mem::stats::format_count;
use neuronx_mem_replay::{
    Analysed, Input, ReadOptions, Replay, ReplayOptions, ReplayReport, TraceInput, TraceOutOfMemory,
};

use crate::arguments::ReplayArguments;
use crate::config::{self, Chosen};
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::target::{self, Kind};
use crate::{convert, json, units, view};

pub(crate) fn run(arguments: &ReplayArguments) -> Result<Answer, Failure> {
    let chosen = config::choose(arguments.config.as_deref())?;
    let options = ReplayOptions { config: chosen.config, ..arguments.trace.options() };
    let input = arguments.trace.input();
    let analysed = replay(arguments, &Replay::new(options), &input)?;
    let report = &analysed.report;
    warn_of_skipped(report);
    let text = if arguments.trace.json {
        // A trace that allocates nothing has no peak; its end is all there is.
        json::replay(report, analysed.analysis_at_peak.as_ref().unwrap_or(&analysed.analysis_at_end))?
    } else {
        let oom = report.out_of_memory.as_ref().map(out_of_memory).unwrap_or_default();
        text(report, &options, &chosen) + &analyses(&analysed) + &oom
    };
    output::print(&text)?;
    Ok(if report.num_ooms > 0 { Answer::No } else { Answer::Yes })
}

/// Replays, and writes the snapshot and the page if they are asked for.
fn replay(
    arguments: &ReplayArguments,
    replay: &Replay,
    input: &TraceInput,
) -> Result<Analysed<Analysis>, Failure> {
    let (is_lenient, look) = (arguments.trace.lenient, Device::segment_pool_analysis);
    if arguments.snapshot.is_none() && arguments.html.is_none() {
        return Ok(replay.analyse(input, is_lenient, look)?);
    }
    let snapshot = match &arguments.snapshot {
        Some(path) => Some((path, snapshot_kind(path)?)),
        None => None,
    };
    let input = Input::read(input, &ReadOptions { is_lenient, ..ReadOptions::default() })?;
    // Each written by a pass of its own, so that the time of the others is that without a record.
    let analysed = replay.analyse_trace(input.trace(), look)?;
    if let Some((path, kind)) = snapshot {
        let recorded = replay.record(input.trace().events())?;
        target::write(path, |out| convert::write_snapshot(&recorded.snapshot, kind, None, out))?;
    }
    if let Some(path) = &arguments.html {
        view::write_replayed(&input, replay.options(), path)?;
    }
    Ok(analysed)
}

/// The format of a snapshot file with this name.
fn snapshot_kind(path: &Path) -> Result<Kind, Failure> {
    let kind = Kind::of_name(path)?;
    if kind.snapshot_format().is_none() {
        return Err(Failure::NotASnapshotName { path: path.to_owned() });
    }
    Ok(kind)
}

/// The two reports that follow the figures.
fn analyses(analysed: &Analysed<Analysis>) -> String {
    let at_peak =
        analysed.analysis_at_peak.as_ref().zip(analysed.report.peak_event).map(|(analysis, event)| {
            format!("\nAt the peak, event {}:\n{}\n", format_count(event), analysis.summary(None))
        });
    let at_end = format!("\nAt the end:\n{}\n", analysed.analysis_at_end.summary(None));
    at_peak.unwrap_or_default() + &at_end
}

/// Says what `--lenient` left out, so that nobody takes the figures for the whole trace's.
pub(crate) fn warn_of_skipped(report: &ReplayReport) {
    if report.skipped.total() > 0 {
        tracing::warn!("{}: wrong lines skipped: {}", report.input, report.skipped);
    }
}

fn text(report: &ReplayReport, options: &ReplayOptions, chosen: &Chosen) -> String {
    let device = format!(
        "{}, LNC {}, {}",
        options.preset,
        options.effective_lnc().cores(),
        units::bytes(report.device_total_bytes)
    );
    let peak_event =
        report.peak_event.map_or(String::new(), |event| format!(", at event {}", format_count(event)));
    let segments = format!(
        "{} taken, {} given back",
        format_count(report.segments_allocated),
        format_count(report.segments_released)
    );
    let mut rows = vec![
        ("Input", report.input.clone()),
        ("Events", format_count(report.events)),
        ("Device", device),
        ("Config", chosen.to_string()),
        ("Peak reserved", units::bytes(report.reserved_peak_bytes)),
        ("Peak allocated", units::bytes(report.allocated_peak_bytes) + &peak_event),
        ("Peak active", units::bytes(report.active_peak_bytes)),
        ("Reserved at end", units::bytes(report.reserved_bytes)),
        ("Allocated at end", units::bytes(report.allocated_bytes)),
        ("Active at end", units::bytes(report.active_bytes)),
        ("Segments", segments),
        ("Retries", format_count(report.num_alloc_retries)),
    ];
    if report.pending_bytes > 0 {
        rows.push(("Free pending", units::bytes(report.pending_bytes)));
    }
    if report.skipped.total() > 0 {
        rows.push(("Lines skipped", report.skipped.to_string()));
    }
    let rows = rows.iter().map(|(name, value)| format!("{:<18} {value}\n", format!("{name}:")));
    format!("{}\n\n{}", report.summary, rows.collect::<String>())
}

/// Where it happened, and the error's own report.
fn out_of_memory(oom: &TraceOutOfMemory) -> String {
    let TraceOutOfMemory { event, line, error } = oom;
    let (event, line) = (format_count(*event), format_count(*line));
    format!("\nAt event {event}, line {line}:\n{}\n", error.report())
}
