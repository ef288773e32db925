//! Options of the verb `numa`. Reads no file and no environment.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use neuronx_mem_numa::AffinityMode;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct NumaArguments {
    #[command(subcommand)]
    pub(super) action: Option<NumaVerb>,
    #[command(flatten)]
    pub(super) status: StatusArguments,
}

#[derive(Debug, Subcommand)]
pub(super) enum NumaVerb {
    /// Print whether a process runs on the node of its device, and where its memory is
    ///
    /// Without --pid it is this command itself that is looked at, with the affinity that it inherits.
    /// Exits with 1 when the process is not pinned.
    #[command(after_help = "Example:\n  neuronx-mem numa status --pid 4242")]
    Status(StatusArguments),
    /// Print devices and nodes, and which CPUs each rank gets
    ///
    /// Exits with 1 when nothing says which devices there are, or a rank has no place.
    #[command(after_help = "Example:\n  neuronx-mem numa topology --plan exclusive")]
    Topology(TopologyArguments),
}

#[derive(Debug, Args)]
pub(super) struct StatusArguments {
    /// Process to look at; its environment says its rank and whether pinning is on
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) pid: Option<u32>,
    /// Local rank of the process [default: its LOCAL_RANK]
    #[arg(long, value_name = "N")]
    pub(super) rank: Option<u32>,
    #[command(flatten)]
    pub(super) source: SourceArguments,
}

#[derive(Debug, Args)]
pub(super) struct TopologyArguments {
    /// Print the CPUs of each rank too; node, unless said, or socket, exclusive or core-complex
    #[arg(long, value_name = "MODE", num_args = 0..=1, default_missing_value = "node",
        value_parser = modes(), hide_possible_values = true)]
    pub(super) plan: Option<AffinityMode>,
    #[command(flatten)]
    pub(super) source: SourceArguments,
}

/// Where the topology comes from.
#[derive(Debug, Args)]
pub(super) struct SourceArguments {
    /// Saved output of `neuron-ls --json-output` instead of the tool; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(super) neuron_ls: Option<PathBuf>,
    /// Directory that stands for `/`, such as a copy of another machine's /sys and /proc
    #[arg(long, value_name = "DIR", default_value = "/", hide_default_value = true)]
    pub(super) root: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

fn modes() -> impl TypedValueParser<Value = AffinityMode> {
    let names = PossibleValuesParser::new(AffinityMode::ALL.map(AffinityMode::name));
    names.map(|name| AffinityMode::by_name(&name).unwrap_or_default())
}
