//! Differences between runs: none with itself, exact for what was changed.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod common;

use std::io::Write;

use neuronx_mem_explain::{Diff, DiffOptions, Input, Lifetime, ReadOptions, Run, SizeClass};
use neuronx_mem_replay::TraceInput;

const TRACES: [&str; 6] = [
    "traces/gpt2_bf16.csv.zst",
    "traces/gpt2_bf16.jsonl.gz",
    "traces/moe_train.csv.zst",
    "traces/fsdp_llama1b.csv.zst",
    "snapshots/train_transformer.pickle",
    "snapshots/multi_stream.pickle",
];

fn diff(first: &Run, second: &Run) -> Diff {
    Diff::of(first, second, &DiffOptions::default()).unwrap()
}

/// A trace in JSON lines with one line of the source edited.
fn edited(edit: impl Fn(String) -> String) -> Run {
    let mut file = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
    for line in common::lines("traces/gpt2_bf16.jsonl.gz") {
        writeln!(file, "{}", edit(line)).unwrap();
    }
    let input = TraceInput::File(file.path().to_owned());
    Run::of(&Input::read(&input, &ReadOptions::default()).unwrap()).unwrap()
}

#[test]
fn a_run_does_not_differ_from_itself() {
    for name in TRACES {
        let run = Run::of(&common::read(name)).unwrap();
        let diff = diff(&run, &run);
        assert!(diff.is_empty(), "{name}: {:?}", diff.groups);
        assert_eq!(diff.peak_change(), 0, "{name}");
    }
}

#[test]
fn the_layer_that_changed_comes_first() {
    let base = Run::of(&common::read("traces/gpt2_bf16.jsonl.gz")).unwrap();
    // The second matrix product of the multi-layer perceptron becomes 25 % larger.
    let stack = common::lines("traces/gpt2_bf16.jsonl.gz")
        .iter()
        .find(|line| line.contains("\"aten.addmm.default\"") && line.contains("\"bytes\":50331648,"))
        .map(|line| line.split_once("\"stack_id\":").unwrap().1.split(',').next().unwrap().to_owned())
        .unwrap();
    let needle = format!("\"stack_id\":{stack},");
    let wider = edited(|line| {
        if line.contains(&needle) { line.replace("\"bytes\":50331648,", "\"bytes\":62914560,") } else { line }
    });
    let diff = diff(&base, &wider);
    let first = diff.sites.frames(diff.groups[0].site);
    assert_eq!(first[0].name, "aten.addmm.default");
    assert_eq!((first[1].name.as_str(), first[1].line), ("Conv1D.forward", 119));
    assert_eq!((first[2].name.as_str(), first[2].line), ("GPT2MLP.forward", 241));
    assert_eq!(diff.groups.len(), 1, "nothing else changed: {:?}", diff.groups);
    assert_eq!(diff.groups[0].at_peak_change(), diff.peak_change());
    assert_eq!(diff.groups[0].bytes_change(), 48 * (62_914_560 - 50_331_648));
    assert_eq!(diff.peak_change(), 12 * (62_914_560 - 50_331_648), "one for each of the twelve layers");
}

#[test]
fn the_groups_add_up_to_the_difference_of_the_peaks() {
    let runs = TRACES.map(|name| Run::of(&common::read(name)).unwrap());
    for pair in runs.windows(2) {
        let diff = diff(&pair[0], &pair[1]);
        let at_peak: i128 = diff.groups.iter().map(|group| group.at_peak_change()).sum();
        assert_eq!(at_peak, diff.peak_change(), "{} and {}", pair[0].name, pair[1].name);
        let bytes: i128 = diff.groups.iter().map(|group| group.bytes_change()).sum();
        assert_eq!(bytes, i128::from(diff.allocated_bytes[1]) - i128::from(diff.allocated_bytes[0]));
    }
}

#[test]
fn lines_that_moved_can_be_ignored() {
    let base = Run::of(&common::read("traces/gpt2_bf16.jsonl.gz")).unwrap();
    let moved = edited(|line| line.replace("modeling_gpt2.py:24", "modeling_gpt2.py:99"));
    assert!(!diff(&base, &moved).is_empty());
    let mut options = DiffOptions::default();
    options.ignores_lines = true;
    assert!(Diff::of(&base, &moved, &options).unwrap().is_empty());
}

#[test]
fn lifetimes_are_told_by_steps() {
    let text = |bytes: u64| {
        format!(
            "m,init\na,1,1024,0\nm,step 0\na,2,{bytes},0\na,3,64,0\nf,3\na,4,32,0\nm,step 1\nf,4\na,5,64,0\n\
             f,5\nm,teardown\nf,1\nf,2\n"
        )
    };
    let diff = diff(&common::run(&text(256)), &common::run(&text(512)));
    let rows = diff.groups.iter().flat_map(|group| &group.rows);
    let rows: Vec<_> = rows.map(|row| (row.size, row.lifetime, row.at_peak_change())).collect();
    assert_eq!(
        rows,
        [(SizeClass::of(512), Lifetime::Kept, 512), (SizeClass::of(256), Lifetime::Kept, -256),]
    );
}
