//! Options of the verb `cache`. Reads no file and no environment.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::size::parse_size;

#[derive(Debug, Args)]
pub(crate) struct CacheArguments {
    #[command(subcommand)]
    pub(super) action: CacheVerb,
}

#[derive(Debug, Subcommand)]
pub(super) enum CacheVerb {
    /// Look at the directories: file system, permissions, space, locks
    ///
    /// Tries the locks with a second process and leaves nothing behind: directories that are missing
    /// stay missing. Exits with 1 when a finding is a warning or an error, such as locks on a network
    /// file system.
    #[command(after_help = "Example:\n  neuronx-mem cache check --neff-dir /fsx/neff")]
    Check(CheckArguments),
    /// Remove the least recently used entries until each cache fits a size
    ///
    /// Also removes what ended processes left: unfinished files after an hour, and lock files. Exits
    /// with 1 when something could not be removed.
    #[command(after_help = "Example:\n  neuronx-mem cache gc --max-size 50GiB")]
    Gc(GcArguments),
    /// Try to lock a file, for the lock test of `check`
    #[command(hide = true)]
    TryLock {
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    #[command(flatten)]
    pub(super) directories: DirectoryArguments,
    /// Less free space than this is a finding
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1GiB")]
    pub(super) min_free: u64,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct GcArguments {
    /// The most that the entries of each cache may have together, in bytes or as 50GiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(super) max_size: u64,
    #[command(flatten)]
    pub(super) directories: DirectoryArguments,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// A directory given here is used even where the environment turns the NEFF cache off.
#[derive(Debug, Args)]
pub(super) struct DirectoryArguments {
    /// Compiled NEFF files [default: TORCH_NEURONX_NEFF_CACHE_DIR]
    #[arg(long, value_name = "DIR")]
    pub(super) neff_dir: Option<PathBuf>,
    /// Lowered HLO [default: TORCH_NEURONX_HLO_CACHE_DIR]
    #[arg(long, value_name = "DIR")]
    pub(super) hlo_dir: Option<PathBuf>,
    /// Lock files [default: TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR]
    #[arg(long, value_name = "DIR")]
    pub(super) local_dir: Option<PathBuf>,
}
