//! The command line: verbs, options and what they mean. Reads no file and no environment.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use neuronx_mem::sim::{Lnc, Preset};
use neuronx_mem_replay::{ReplayOptions, TraceInput};
use neuronx_mem_tune::Machine;

use crate::cache::CacheArguments;
use crate::check::CheckArguments;
use crate::diff::DiffArguments;
use crate::explain::ExplainArguments;
use crate::host::HostArguments;
use crate::int64::Int64Arguments;
use crate::leaks::LeaksArguments;
use crate::merge::MergeArguments;
use crate::numa::NumaArguments;
use crate::output;
use crate::plan::PlanArguments;
use crate::shrink::ShrinkArguments;
use crate::size::parse_size;
use crate::target::Kind;
use crate::tune::TuneArguments;
use crate::view::ViewArguments;

/// Device memory of Neuron cores: replay, compare, tune and explain recorded programs; check a host.
#[derive(Debug, Parser)]
#[command(
    name = "neuronx-mem",
    version,
    after_help = "Exit codes: 0 done, 1 the answer is no (out of \
    memory, findings), 2 bad usage or unreadable input."
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
    /// Search the allocator keys for the setting that serves recorded runs best.
    ///
    /// Fewest out-of-memory errors first, then the lowest peak of reserved memory, then the fewest
    /// segments. Prints the line to export: the robust pick is also good on larger and smaller versions
    /// of the inputs and never much worse than the defaults there; the best pick is the best on exactly
    /// these inputs. Cross-validates over the inputs, or over the steps of a single one. Exits with 1 when
    /// every setting runs out of memory.
    #[command(after_help = "Example:\n  neuronx-mem tune monday.csv.zst tuesday.csv.zst --memory 10GiB")]
    Tune(TuneArguments),
    /// Pack a trace offline: lower bound, best packing found and the gap between them.
    ///
    /// Says too what it costs when a run by the plan is not quite the planned one: the allocator
    /// then serves what differs.
    #[command(after_help = "Example:\n  neuronx-mem plan train.csv.zst -o layout.csv")]
    Plan(PlanArguments),
    /// Check a run against its memory budget; exits with 1 when a limit is exceeded.
    ///
    /// Figures come from a replay on an empty pool, so they do not depend on what the process did before.
    /// The budget is TOML: `tolerance_percent`, a table `[budget]` and tables `[mark."LABEL"]` with limits
    /// peak, reserved, fragmentation_index, allocations_per_step and growth_per_step.
    #[command(
        after_help = "Example:\n  neuronx-mem check train.csv.zst --budget memory.toml --junit out.xml"
    )]
    Check(CheckArguments),
    /// Shrink a trace to the few events that still show an effect.
    ///
    /// Leaves out tensors until each one left is needed; sizes, order and lifetimes stay. For a bug
    /// report or a test.
    #[command(after_help = "Example:\n  neuronx-mem shrink train.csv.zst --memory 10GiB -o small.csv")]
    Shrink(ShrinkArguments),
    /// Say why memory is held, and what would serve a request.
    ///
    /// Looks at a snapshot, or at a trace where it ran out of memory or else at its peak. For each segment
    /// with free memory in it: the blocks that pin it, with age, stream and call stack. For a request:
    /// whether waiting, empty_cache or another configuration serves it, and the smallest set of live
    /// blocks whose release does. Exits with 1 when none of the allocator's own means serves it.
    #[command(after_help = "Example:\n  neuronx-mem explain oom.pickle --need 512MiB --memory 24GiB\n  \
        neuronx-mem explain train.csv.zst --at peak --need 2GiB")]
    Explain(ExplainArguments),
    /// Say what two runs allocate differently: by call stack, size and lifetime.
    ///
    /// Addresses do not matter. The sites that make the difference between the two peaks come first, and
    /// what they hold adds up to it exactly. Without call stacks a site is a phase of the program.
    #[command(after_help = "Example:\n  neuronx-mem diff before.pickle after.pickle --ignore-lines")]
    Diff(DiffArguments),
    /// Say which call stacks hold more after every step.
    ///
    /// A leak piles up: live bytes rise from step to step beyond chance, from tensors of several steps
    /// that are never freed. Exits with 1 when there is one.
    #[command(after_help = "Example:\n  neuronx-mem leaks train.csv.zst\n  neuronx-mem leaks train.pickle \
        --every 20000")]
    Leaks(LeaksArguments),
    /// Compare the ranks of one job: who holds what, who is out of line, where they part.
    ///
    /// Reads every trace and snapshot in DIR; the number in a file's name is its rank.
    #[command(after_help = "Example:\n  neuronx-mem merge snapshots/")]
    Merge(MergeArguments),
    /// Look at a run: one HTML file that opens in any browser and asks for nothing from a network.
    ///
    /// Reserved, allocated and active bytes over events and time, every block over time and in its segment
    /// at any moment, who holds the peak, filter and search. A trace is replayed; a snapshot is shown as
    /// it is. The page says what it sums up or leaves out.
    #[command(after_help = "Example:\n  neuronx-mem view train.csv.zst -o train.html\n  \
        neuronx-mem view oom.pickle --serve 8080")]
    View(ViewArguments),
    /// Convert between snapshots, traces and timelines.
    ///
    /// The content of the input tells what it is, the name of the output what it becomes. The
    /// history of a snapshot becomes a trace, with the blocks that lived before it in front; a trace
    /// becomes a snapshot by a replay on the default device that records it. Exits with 1 when that
    /// runs out of memory; the snapshot then ends there.
    #[command(after_help = "Example:\n  neuronx-mem convert train.csv.zst -o train.pickle\n  \
        neuronx-mem convert gpu.pickle -o gpu.perfetto.json")]
    Convert(ConvertArguments),
    /// Show or check the keys of the allocator configuration.
    ///
    /// STRING is what TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG would hold; without it the variable
    /// itself is read. `show`, the default, prints every key with its value and where that came from,
    /// the shortest string with the same values and their hash. `lint` prints one line a finding and
    /// exits with 1 when one of them is a warning or an error.
    #[command(after_help = "Example:\n  neuronx-mem config lint kMaxSplitSizeBytes=512MiB")]
    Config(ConfigArguments),
    /// Show every environment variable with its value in force, and what is wrong.
    ///
    /// Exits with 1 when a finding is a warning or an error. Where the output has 110 columns there is
    /// the type too, and the default where another value holds; COLUMNS sets the width when the
    /// output is no terminal.
    #[command(after_help = "Example:\n  neuronx-mem env --set")]
    Env(EnvArguments),
    /// Check and bound the caches of compiled code.
    ///
    /// The directories are those of TORCH_NEURONX_NEFF_CACHE_DIR, TORCH_NEURONX_HLO_CACHE_DIR and
    /// TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR, without the first where that cache is off.
    #[command(after_help = "Example:\n  neuronx-mem cache check")]
    Cache(CacheArguments),
    /// Say how operators on 64-bit tensors would run, and whether values survive.
    #[command(after_help = "Example:\n  neuronx-mem int64 audit train.jsonl.gz")]
    Int64(Int64Arguments),
    /// Say whether the host has contiguous memory for the driver, and explain why it had not.
    #[command(after_help = "Example:\n  neuronx-mem host check --need 3292176 --count 4")]
    Host(HostArguments),
    /// Show whether a process runs beside its Neuron device, and which devices are where.
    ///
    /// `status`, the default, is what `get_numa_status` returns, why it is so, and how much memory is
    /// on another node already. `topology` lists devices, nodes and, with --plan, the CPUs of each rank.
    #[command(after_help = "Example:\n  neuronx-mem numa status --pid 4242")]
    Numa(NumaArguments),
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    action: Option<ConfigVerb>,
    #[command(flatten)]
    text: ConfigText,
}

#[derive(Debug, Subcommand)]
enum ConfigVerb {
    /// Print every key with its value and where that came from
    #[command(after_help = "Example:\n  neuronx-mem config show kMinRoundedSize=512")]
    Show(ConfigText),
    /// Print what is wrong with the string; exit with 1 on a warning or an error
    #[command(after_help = "Example:\n  neuronx-mem config lint kMaxSplitSizeBytes=512MiB")]
    Lint(ConfigText),
}

/// What `config` does with its string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfigAction {
    Show,
    Lint,
}

#[derive(Debug, Args)]
struct ConfigText {
    /// Configuration string; without it TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG is read
    #[arg(value_name = "STRING")]
    string: Option<OsString>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl ConfigArguments {
    /// What to do, with which string, and whether as JSON.
    pub(crate) fn parts(&self) -> (ConfigAction, Option<&OsStr>, bool) {
        let (action, text) = match &self.action {
            None => (ConfigAction::Show, &self.text),
            Some(ConfigVerb::Show(text)) => (ConfigAction::Show, text),
            Some(ConfigVerb::Lint(text)) => (ConfigAction::Lint, text),
        };
        (action, text.string.as_deref(), text.json)
    }
}

#[derive(Debug, Args)]
pub(crate) struct EnvArguments {
    /// Show only variables that are set or have a problem
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) set: bool,
    /// Print the page docs/environment.md, which looks at no environment
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    #[command(flatten)]
    pub(crate) trace: TraceArguments,
    /// Allocator configuration; without it TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG applies
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub(crate) config: Option<String>,
    /// Record the history and write a snapshot at the end, .pickle or .json
    #[arg(long, value_name = "OUT")]
    pub(crate) snapshot: Option<PathBuf>,
    /// Write the page of `view` for this replay
    #[arg(long, value_name = "OUT.html")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArguments {
    /// Snapshot or trace to read; `-` is standard input
    #[arg(value_name = "INPUT")]
    input: OsString,
    /// File to write: .pickle, .json, .csv, .csv.gz, .csv.zst or .perfetto.json; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Format to write, whatever the name of the output
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<Kind>,
    /// Device whose history is converted [default: the first for a trace, all for a timeline]
    #[arg(long, value_name = "N")]
    pub(crate) device: Option<usize>,
    /// Take names, paths, texts and times out; structure, sizes and order stay
    #[arg(long)]
    pub(crate) anonymize: bool,
}

impl ConvertArguments {
    pub(crate) fn input(&self) -> TraceInput {
        TraceInput::from_argument(&self.input)
    }
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    pub(crate) trace: TraceArguments,
    /// Allocator configuration, once a row; `default` for the defaults
    #[arg(long = "config", value_name = "KEY=VALUE,…", required = true)]
    pub(crate) configs: Vec<String>,
}

/// The simulated device of a verb that has no other options of a replay.
#[derive(Clone, Debug, Args)]
pub(crate) struct MachineArguments {
    /// Chip whose logical core is simulated
    #[arg(long, default_value = Preset::default().name(), value_parser = presets())]
    device: Preset,
    /// Logical-core configuration [default: 1 on trn1 and inf2, 2 on trn2 and trn3]
    #[arg(long, value_name = "N", value_parser = lncs())]
    lnc: Option<Lnc>,
    /// Device memory in bytes or as 24GiB, 512MiB [default: what the chip has]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,
}

impl MachineArguments {
    pub(crate) fn machine(&self) -> Machine {
        Machine { preset: self.device, lnc: self.lnc, memory_bytes: self.memory }
    }
}

/// What every verb that replays a trace takes.
#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// Trace (plain, gzip or zstd) or snapshot (.pickle, .json) to read; `-` is standard input
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

pub(crate) fn lncs() -> impl TypedValueParser<Value = Lnc> {
    PossibleValuesParser::new(["1", "2"]).map(|text| if text == "1" { Lnc::One } else { Lnc::Two })
}
