//! Helpers of the integration tests. Knows where the genuine samples are.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test file uses its part; a panic is the report"
)]

use std::path::PathBuf;

use neuronx_mem_snapshot::{Limits, Snapshot};

/// The genuine PyTorch snapshots, by name.
pub const SAMPLES: [&str; 7] = [
    "annotations",
    "multi_stream",
    "oom",
    "private_pools",
    "small_history",
    "train_transformer",
    "two_snapshots",
];

pub fn sample_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/data/snapshots/{name}.pickle"))
}

pub fn sample_bytes(name: &str) -> Vec<u8> {
    std::fs::read(sample_path(name)).unwrap()
}

pub fn sample(name: &str) -> Snapshot {
    Snapshot::read_slice(&sample_bytes(name), &Limits::default()).unwrap()
}
