//! What makes the command end with exit code 2. One line each, without a final period.

use std::io;
use std::path::PathBuf;

use neuronx_mem::config::Finding;
use neuronx_mem::snapshot::Error as SnapshotError;
use neuronx_mem_cache::CacheError;
use neuronx_mem_explain::ExplainError;
use neuronx_mem_host::HostError;
use neuronx_mem_numa::NumaError;
use neuronx_mem_replay::ReplayError;
use neuronx_mem_tune::{BudgetFault, TuneError};
use neuronx_mem_view::ViewError;

use crate::int64::AuditError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Trace(#[from] ReplayError),
    #[error(transparent)]
    Explain(#[from] ExplainError),
    #[error(transparent)]
    View(#[from] ViewError),
    #[error("--serve {port}: {source}")]
    Serve { port: u16, source: io::Error },
    #[error("--config `{text}`: {finding}")]
    Config { text: String, finding: Box<Finding> },
    #[error(
        "`{}`: no format has this name: use .pickle, .json, .csv, .csv.gz, .csv.zst or \
        .perfetto.json, or say --to",
        path.display()
    )]
    UnknownTarget { path: PathBuf },
    #[error("`{}`: a snapshot is a .pickle or a .json file", path.display())]
    NotASnapshotName { path: PathBuf },
    #[error("`{}`: a trace is a .csv, .csv.gz or .csv.zst file", path.display())]
    NotATraceName { path: PathBuf },
    #[error("--device {device_idx}: a snapshot is converted with all of its devices")]
    DeviceOfSnapshot { device_idx: usize },
    #[error("{}: {}", path.display(), reason(source))]
    Target { path: PathBuf, source: SnapshotError },
    #[error("the snapshot cannot be written: {}", reason(.0))]
    Snapshot(#[from] SnapshotError),
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error(transparent)]
    Audit(#[from] AuditError),
    #[error(transparent)]
    Host(#[from] HostError),
    #[error("{}: {source}", path.display())]
    Log { path: PathBuf, source: io::Error },
    #[error("{path}: {source}")]
    NeuronLsFile { path: String, source: Box<NumaInput> },
    #[error("--pid {pid}: {source}")]
    Process { pid: u32, source: io::Error },
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
    #[error(transparent)]
    Tune(#[from] TuneError),
    #[error("--shrink takes one input, not {n_inputs}")]
    ShrinksOne { n_inputs: usize },
    #[error("{}: cannot be read: {source}", path.display())]
    BudgetUnread { path: PathBuf, source: io::Error },
    #[error("{}: {source}", path.display())]
    Budget { path: PathBuf, source: BudgetFault },
    #[error("standard input: the job cannot be read: {source}")]
    JobUnread { source: io::Error },
    #[error("standard input: not a job: {source}")]
    Job { source: serde_json::Error },
    #[error("the result has no JSON form: {0}")]
    Json(#[from] serde_json::Error),
}

/// Why the saved output of `neuron-ls` is of no use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NumaInput {
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    #[error(transparent)]
    Unusable(#[from] NumaError),
}

impl Failure {
    /// What the system said, when it was the system that refused.
    pub(crate) fn io(&self) -> Option<&io::Error> {
        match self {
            Self::Output(error) | Self::Trace(ReplayError::Write { source: error }) => Some(error),
            Self::Snapshot(SnapshotError::Io { source, .. })
            | Self::Target { source: SnapshotError::Io { source, .. }, .. } => Some(source),
            _ => None,
        }
    }
}

fn reason(error: &SnapshotError) -> String {
    match error {
        SnapshotError::Io { source, .. } => format!("{error}: {source}"),
        _ => error.to_string(),
    }
}
