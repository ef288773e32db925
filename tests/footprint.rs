//! Peak reserved over peak live bytes of every corpus trace, default configuration: the figure that
//! a change of placement must not raise unseen.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::path::PathBuf;

use neuronx_mem_replay::{Replay, ReplayOptions, TraceInput};

const TRACES: [&str; 8] = [
    "gpt2_bf16",
    "llama1b_ckpt",
    "resnet50",
    "int64_small",
    "varlen_ft",
    "moe_train",
    "llama7b_decode",
    "fsdp_llama1b",
];

#[test]
fn reserved_over_live() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data/traces");
    let line = |name: &&str| {
        let input = TraceInput::File(folder.join(format!("{name}.csv.zst")));
        let report = Replay::new(ReplayOptions::default()).run(input.open().unwrap()).unwrap().report;
        format!("{name:<15} {:.3}", report.reserved_peak_bytes as f64 / report.active_peak_bytes as f64)
    };
    let lines: Vec<String> = TRACES.iter().map(line).collect();
    insta::assert_snapshot!(lines.join("\n"));
}
