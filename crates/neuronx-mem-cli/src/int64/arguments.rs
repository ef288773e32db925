//! Options of the verb `int64`. Reads no file and no environment.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use neuronx_mem_int64::Int64Mode;

#[derive(Debug, Args)]
pub(crate) struct Int64Arguments {
    #[command(subcommand)]
    pub(super) action: Int64Verb,
}

#[derive(Debug, Subcommand)]
pub(super) enum Int64Verb {
    /// Show where each operator on int64 or float64 runs in each mode
    ///
    /// INPUT is a trace with operators (JSON lines), a list of operators (one a line, with a number of
    /// calls before or behind the name), `-` for standard input, or the operators themselves. For each
    /// operator the table tells the route in each of the five modes, and for one mode the bytes that
    /// cross between host and device and what can go wrong: the mode of --mode, else of
    /// TORCH_NEURONX_INT64_MODE. A `!` marks routes on which values can change without an error.
    #[command(after_help = "Example:\n  neuronx-mem int64 audit train.jsonl.gz --mode packed\n  \
        neuronx-mem int64 audit aten.cumsum aten.mm.default")]
    Audit(AuditArguments),
}

#[derive(Debug, Args)]
pub(super) struct AuditArguments {
    /// Trace with operators, list of operators, `-`, or names of operators
    #[arg(value_name = "INPUT", required = true)]
    pub(super) input: Vec<OsString>,
    /// Mode whose bytes and risks are shown [default: TORCH_NEURONX_INT64_MODE, else native]
    #[arg(long, value_name = "MODE", value_parser = modes())]
    pub(super) mode: Option<Int64Mode>,
    /// Take the overflow check of the packed view as switched on
    #[arg(long)]
    pub(super) check_overflow: bool,
    /// Read more operators, or other facts about known ones, from a TOML file
    #[arg(long, value_name = "FILE")]
    pub(super) operators: Vec<PathBuf>,
    /// Exit with 1 when values can change without an error, or an operator is unknown or refused
    #[arg(long)]
    pub(super) check: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

fn modes() -> impl TypedValueParser<Value = Int64Mode> {
    PossibleValuesParser::new(Int64Mode::ALL.map(Int64Mode::name)).try_map(|name| name.parse::<Int64Mode>())
}
