//! The options of `view`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use neuronx_mem::AllocatorConfig;
use neuronx_mem::sim::{Lnc, Preset};
use neuronx_mem_replay::{ReadOptions, ReplayOptions, TraceInput};

use crate::explain::{DeviceOf, device};
use crate::size::parse_size;

#[derive(Debug, Args)]
pub(crate) struct ViewArguments {
    /// Trace (CSV, or JSON lines in a file; plain or compressed) or snapshot (.pickle, .json); `-` is
    /// standard input
    #[arg(value_name = "INPUT")]
    input: OsString,
    /// File to write; `-` is standard output [default: the input's name with .html, in this folder]
    #[arg(short, long, value_name = "OUT.html", conflicts_with = "serve")]
    pub(crate) output: Option<PathBuf>,
    /// Serve the page to this host at http://127.0.0.1:PORT/ until interrupted, and write no file; 0 is
    /// a free port
    #[arg(long, value_name = "PORT")]
    pub(crate) serve: Option<u16>,
    /// Look at it in the terminal, and write no file; where standard output is no terminal, print one
    /// screen of COLUMNS by LINES [default: 100 by 40] as text
    #[arg(long, conflicts_with_all = ["output", "serve"])]
    pub(crate) terminal: bool,
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
    /// Stop a trace after this event, counted from 1
    #[arg(long, value_name = "EVENT", value_parser = clap::value_parser!(u64).range(1..))]
    until: Option<u64>,
    /// Keep this many pieces of work outstanding on each stream of a trace
    #[arg(long, value_name = "N", default_value_t = 0)]
    in_flight: u64,
    /// Skip and count wrong lines of a trace instead of refusing it
    #[arg(long)]
    lenient: bool,
}

impl ViewArguments {
    pub(crate) fn input(&self) -> TraceInput {
        TraceInput::from_argument(&self.input)
    }

    pub(crate) fn read_options(&self) -> ReadOptions {
        let device_idx = match self.device {
            Some(DeviceOf::Snapshot(device_idx)) => Some(device_idx),
            _ => None,
        };
        ReadOptions { is_lenient: self.lenient, device_idx }
    }

    pub(crate) fn replay_options(&self, config: AllocatorConfig) -> ReplayOptions {
        let preset = match self.device {
            Some(DeviceOf::Chip(preset)) => preset,
            _ => Preset::default(),
        };
        ReplayOptions {
            config,
            preset,
            lnc: self.lnc,
            memory_bytes: self.memory,
            until: self.until,
            in_flight: self.in_flight,
        }
    }
}
