//! Options of the verb `host`. Reads no file and no environment.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::size::parse_size;

#[derive(Debug, Args)]
pub(crate) struct HostArguments {
    #[command(subcommand)]
    pub(super) action: HostVerb,
}

#[derive(Debug, Subcommand)]
pub(super) enum HostVerb {
    /// Say whether requests for contiguous host memory can be served now
    ///
    /// Reads the kernel's free blocks by node and order, what its zones keep, huge pages and the driver's
    /// parameters; more is known as root, who can read /proc/pagetypeinfo. With --need, exits with 1 when
    /// requests would fail, and lists what helps at what price. Runs none of it.
    #[command(after_help = "Example:\n  neuronx-mem host check --need 3292176 --count 4")]
    Check(CheckArguments),
    /// Explain the memory failures in a log of the runtime, the driver or the kernel
    ///
    /// Puts the lines of one failure together, with tables of usage in their old and new form, and says
    /// what was behind it and what helps. Exits with 0, whatever the log says.
    #[command(after_help = "Example:\n  sudo dmesg | cat - train.log | neuronx-mem host explain -")]
    Explain(ExplainArguments),
}

#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    /// Bytes of one request, or as 4MiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(super) need: Option<u64>,
    /// How many of them are live at once
    #[arg(long, value_name = "N", default_value_t = 1, requires = "need",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) count: u64,
    /// NUMA node that has to serve them [default: any]
    #[arg(long, value_name = "N", requires = "need")]
    pub(super) node: Option<u32>,
    /// Directory with a copy of another host's `proc` and `sys`
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub(super) root: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ExplainArguments {
    /// Log to read; `-` is standard input
    #[arg(value_name = "LOGFILE")]
    pub(super) log: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}
