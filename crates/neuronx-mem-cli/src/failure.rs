//! What makes the command end with exit code 2. One line each, without a final period.

use std::io;

use neuronx_mem::config::Finding;
use neuronx_mem_replay::ReplayError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Trace(#[from] ReplayError),
    #[error("--config `{text}`: {finding}")]
    Config { text: String, finding: Box<Finding> },
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
    #[error("the result has no JSON form: {0}")]
    Json(#[from] serde_json::Error),
}
