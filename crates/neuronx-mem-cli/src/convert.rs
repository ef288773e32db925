//! The verb `convert`: between snapshots, traces and timelines.

mod anonymous;

use std::io::Write;

use neuronx_mem::snapshot::Snapshot;
use neuronx_mem_replay::{
    HistoryEvents, OpenedInput, Replay, ReplayError, ReplayOptions, Trace, TraceInput, write_perfetto,
    write_trace,
};

use crate::arguments::ConvertArguments;
use crate::config;
use crate::failure::Failure;
use crate::output::Answer;
use crate::target::{self, Kind};

pub(crate) fn run(arguments: &ConvertArguments) -> Result<Answer, Failure> {
    let kind = match arguments.to {
        Some(kind) => kind,
        None => Kind::of_name(&arguments.output)?,
    };
    let input = arguments.input();
    match input.open_any()? {
        OpenedInput::Snapshot(snapshot) if arguments.anonymize => {
            let snapshot = anonymous::snapshot(&snapshot)?;
            let input = TraceInput::from_argument("anonymous");
            from_snapshot(arguments, kind, &input, &snapshot).map(|()| Answer::Yes)
        }
        OpenedInput::Snapshot(snapshot) => {
            from_snapshot(arguments, kind, &input, &snapshot).map(|()| Answer::Yes)
        }
        OpenedInput::Trace(reader) => {
            if let Some(device_idx) = arguments.device.filter(|device_idx| *device_idx != 0) {
                return Err(ReplayError::NoSuchDevice { input: input.name(), device_idx }.into());
            }
            let trace = Trace::read(*reader)?;
            let trace = if arguments.anonymize { anonymous::trace(&trace)? } else { trace };
            from_trace(arguments, kind, &trace)
        }
        _ => Err(Failure::UnknownTarget { path: arguments.output.clone() }),
    }
}

fn from_snapshot(
    arguments: &ConvertArguments,
    kind: Kind,
    input: &TraceInput,
    snapshot: &Snapshot,
) -> Result<(), Failure> {
    let device_idx = arguments.device;
    if let Some(compression) = kind.compression() {
        let events = HistoryEvents::of_device(snapshot, device_idx, input.name())?;
        return target::write(&arguments.output, |out| Ok(write_trace(events, out, compression)?));
    }
    if let Some(device_idx) = device_idx {
        if kind.snapshot_format().is_some() {
            return Err(Failure::DeviceOfSnapshot { device_idx });
        }
        HistoryEvents::of_device(snapshot, Some(device_idx), input.name())?;
    }
    target::write(&arguments.output, |out| write_snapshot(snapshot, kind, device_idx, out))
}

fn from_trace(arguments: &ConvertArguments, kind: Kind, trace: &Trace) -> Result<Answer, Failure> {
    if let Some(compression) = kind.compression() {
        target::write(&arguments.output, |out| Ok(write_trace(trace.events(), out, compression)?))?;
        return Ok(Answer::Yes);
    }
    let options = ReplayOptions { config: config::choose(None)?.config, ..ReplayOptions::default() };
    let recorded = Replay::new(options).record(trace.events())?;
    target::write(&arguments.output, |out| write_snapshot(&recorded.snapshot, kind, None, out))?;
    let Some(oom) = recorded.report.out_of_memory else { return Ok(Answer::Yes) };
    tracing::warn!("{}: ends at event {}, line {}: {}", trace.name(), oom.event, oom.line, oom.error);
    Ok(Answer::No)
}

/// Writes a snapshot, or the timeline of its history.
pub(crate) fn write_snapshot(
    snapshot: &Snapshot,
    kind: Kind,
    device_idx: Option<usize>,
    mut out: &mut dyn Write,
) -> Result<(), Failure> {
    match kind.snapshot_format() {
        Some(format) => Ok(snapshot.write_to(&mut out, format)?),
        None => Ok(write_perfetto(snapshot, device_idx, out)?),
    }
}
