//! What an audit cannot read. One line each, with the place.

use std::io;
use std::path::PathBuf;

use neuronx_mem_int64::Int64Error;

#[derive(Debug, thiserror::Error)]
pub(crate) enum AuditError {
    #[error("--operators {}: cannot be read: {source}", path.display())]
    Operators { path: PathBuf, source: io::Error },
    #[error("--operators {}: {source}", path.display())]
    Table { path: PathBuf, source: Int64Error },
    #[error("{input}: line {line}: {reason}")]
    Line { input: String, line: u64, reason: String },
    #[error("{input}: holds no operators")]
    Empty { input: String },
    #[error("{input}: a memory snapshot has no operators: give a trace in JSON lines or a list")]
    Snapshot { input: String },
    #[error("`{name}` is neither a file nor the name of an operator")]
    NoInput { name: String },
    #[error("`{name}`: of several inputs each must be the name of an operator")]
    NoOperator { name: String },
}
