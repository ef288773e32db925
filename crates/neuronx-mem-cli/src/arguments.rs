//! The command line: verbs, options and what they mean. Reads no file and no environment.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use neuronx_mem::sim::{Lnc, Preset};
use neuronx_mem_replay::{ReplayOptions, TraceInput};

use crate::output;
use crate::size::parse_size;

/// Device memory of Neuron cores: replay traces, compare configurations.
#[derive(Debug, Parser)]
#[command(
    name = "neuronx-mem",
    version,
    after_help = "Exit codes: 0 done, 1 the answer is no (out of \
    memory), 2 bad usage or unreadable input."
)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

/// What is to be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run a trace through the allocator and print what it took.
    ///
    /// Prints the memory summary and the exact peaks. When the device runs out of memory, prints
    /// why and exits with 1.
    #[command(after_help = "Example:\n  neuronx-mem replay train.csv.zst --device trn2 \
        --config kMaxSplitSizeBytes=536870912")]
    Replay(ReplayArguments),
    /// Run a trace under several configurations and mark the best.
    ///
    /// One row a configuration; the defaults are always among them. Best is the one with the
    /// fewest out-of-memory errors, then the lowest peak of reserved memory, then the fewest
    /// segments. Exits with 1 when every configuration runs out of memory.
    #[command(
        after_help = "Example:\n  neuronx-mem compare train.csv.zst --config kRoundupPower2Divisions=8"
    )]
    Compare(CompareArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    #[command(flatten)]
    pub(crate) trace: TraceArguments,
    /// Allocator configuration; without it TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG applies
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub(crate) config: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    pub(crate) trace: TraceArguments,
    /// Allocator configuration, once a row; `default` for the defaults
    #[arg(long = "config", value_name = "KEY=VALUE,…", required = true)]
    pub(crate) configs: Vec<String>,
}

/// What every verb that replays a trace takes.
#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// Trace to read, plain, gzip or zstd; `-` is standard input
    #[arg(value_name = "INPUT")]
    input: OsString,
    /// Chip whose logical core is simulated
    #[arg(long, default_value = Preset::default().name(), value_parser = presets())]
    device: Preset,
    /// Logical-core configuration [default: 1 on trn1 and inf2, 2 on trn2 and trn3]
    #[arg(long, value_name = "N", value_parser = lncs())]
    lnc: Option<Lnc>,
    /// Device memory in bytes or as 24GiB, 512MiB [default: what the chip has]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,
    /// Stop after this event, counted from 1
    #[arg(long, value_name = "EVENT", value_parser = clap::value_parser!(u64).range(1..))]
    until: Option<u64>,
    /// Keep this many pieces of work outstanding on each stream, so that frees wait for them
    #[arg(long, value_name = "N", default_value_t = 0)]
    in_flight: u64,
    /// Skip and count wrong lines instead of refusing the trace
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl TraceArguments {
    pub(crate) fn input(&self) -> TraceInput {
        TraceInput::from_argument(&self.input)
    }

    /// All but the allocator's configuration.
    pub(crate) fn options(&self) -> ReplayOptions {
        ReplayOptions {
            preset: self.device,
            lnc: self.lnc,
            memory_bytes: self.memory,
            until: self.until,
            in_flight: self.in_flight,
            ..ReplayOptions::default()
        }
    }
}

/// Reads the process's arguments; help, version and wrong usage end in an exit code.
pub(crate) fn read() -> Result<Verb, ExitCode> {
    let error = match Arguments::try_parse() {
        Ok(arguments) => return Ok(arguments.verb),
        Err(error) => error,
    };
    let is_help =
        matches!(error.kind(), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand) || !error.use_stderr();
    if is_help {
        // A reader of the help that has gone needs no message.
        let _ = error.print();
        return Err(if error.use_stderr() { output::BAD_USAGE.into() } else { ExitCode::SUCCESS });
    }
    Err(output::complain(&one_line(&error)))
}

/// The first paragraph of clap's message on one line: what is wrong, without usage and tips.
fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join(" ");
    line.strip_prefix("error: ").map(str::to_owned).unwrap_or(line)
}

fn presets() -> impl TypedValueParser<Value = Preset> {
    PossibleValuesParser::new(Preset::ALL.map(Preset::name)).try_map(|name| name.parse::<Preset>())
}

fn lncs() -> impl TypedValueParser<Value = Lnc> {
    PossibleValuesParser::new(["1", "2"]).map(|text| if text == "1" { Lnc::One } else { Lnc::Two })
}
