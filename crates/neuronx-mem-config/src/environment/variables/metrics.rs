//! Metric tables.
//!
//! Knows which tables this workspace writes; the reference names none.

use super::*;

/// The tables of `neuronx-mem-stats`.
const TABLE_NAMES: &[&str] = &["memory", "segments", "oom", "streams"];

variables! { Metrics;
    /// The metric tables to write as CSV. Other names than those of this workspace are left to others.
    TORCH_NEURONX_ENABLED_METRIC_TABLES: Kind::List(Items::OpenWords(TABLE_NAMES)), plain(""), Reference,
        FACADE;

    /// Directory of the CSV files.
    TORCH_NEURONX_METRICS_DIR: Kind::Path, plain("/tmp"), Reference, FACADE;
}
