//! The options of `explain`.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use neuronx_mem::sim::{Lnc, Preset};
use neuronx_mem_explain::{Least, Moment};
use neuronx_mem_replay::{ReplayOptions, TraceInput};

use crate::size::parse_size;

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// Trace (CSV, or JSON lines in a file; plain or compressed) or snapshot (.pickle, .json); `-` is
    /// standard input
    #[arg(value_name = "INPUT")]
    input: OsString,
    /// Say what would serve a request of this many bytes [default: the one that ran out of memory]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) need: Option<u64>,
    /// Stream that makes the request, as the input numbers it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) stream: u64,
    /// What the set of blocks to give up has the least of
    #[arg(long, value_name = "WHAT", default_value = "bytes")]
    least: LeastOf,
    /// Moment of a trace: oom, peak, end or the number of an event [default: oom if there is one, else peak]
    #[arg(long, value_name = "MOMENT", value_parser = moment)]
    at: Option<Moment>,
    /// Segments and blocks shown in each table
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Frames shown of each call stack
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) frames: usize,
    /// Allocator configuration of a trace's replay [default: TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG]
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub(crate) config: Option<String>,
    /// Chip that a trace is replayed on (trn1, inf2, trn2, trn3), or number of a snapshot's device
    /// [default: trn2; the first]
    #[arg(long, value_name = "CHIP|N", value_parser = device)]
    device: Option<DeviceOf>,
    /// Logical-core configuration of the chip, 1 or 2 [default: the chip's]
    #[arg(long, value_name = "N", value_parser = crate::arguments::lncs())]
    lnc: Option<Lnc>,
    /// Device memory in bytes or as 24GiB [default: what the chip has; unknown for a snapshot]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,
    /// Keep this many pieces of work outstanding on each stream of a trace
    #[arg(long, value_name = "N", default_value_t = 0)]
    in_flight: u64,
    /// Skip and count wrong lines of a trace instead of refusing it
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LeastOf {
    Bytes,
    Blocks,
}

/// A chip to replay on, or a device of a snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DeviceOf {
    Chip(Preset),
    Snapshot(usize),
}

impl ExplainArguments {
    pub(crate) fn input(&self) -> TraceInput {
        TraceInput::from_argument(&self.input)
    }

    pub(crate) fn replay_options(&self) -> ReplayOptions {
        ReplayOptions {
            preset: match self.device {
                Some(DeviceOf::Chip(preset)) => preset,
                _ => Preset::default(),
            },
            lnc: self.lnc,
            memory_bytes: self.memory,
            in_flight: self.in_flight,
            ..ReplayOptions::default()
        }
    }

    pub(crate) fn device_idx(&self) -> Option<usize> {
        match self.device {
            Some(DeviceOf::Snapshot(device_idx)) => Some(device_idx),
            _ => None,
        }
    }

    pub(crate) fn moment(&self) -> Moment {
        self.at.unwrap_or_default()
    }

    pub(crate) fn least(&self) -> Least {
        match self.least {
            LeastOf::Bytes => Least::Bytes,
            LeastOf::Blocks => Least::Blocks,
        }
    }
}

fn moment(text: &str) -> Result<Moment, String> {
    match text {
        "oom" => Ok(Moment::Decisive),
        "peak" => Ok(Moment::Peak),
        "end" => Ok(Moment::End),
        number => match number.parse() {
            Ok(event) if event > 0 => Ok(Moment::Event(event)),
            _ => Err("a moment is oom, peak, end or the number of an event, from 1".to_owned()),
        },
    }
}

pub(crate) fn device(text: &str) -> Result<DeviceOf, String> {
    if let Ok(preset) = text.parse() {
        return Ok(DeviceOf::Chip(preset));
    }
    text.parse()
        .map(DeviceOf::Snapshot)
        .map_err(|_| "a device is trn1, inf2, trn2, trn3 or a number".to_owned())
}
