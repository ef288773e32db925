//! Replays that leave a snapshot, and what becomes of a trace on the way through one.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::collections::HashMap;
use std::path::Path;

use neuronx_mem_replay::{
    Event, EventSource, HistoryEvents, Recorded, Replay, ReplayOptions, Trace, TraceInput, TraceReader,
};
use neuronx_mem_snapshot::Snapshot;

fn record(text: &str, options: ReplayOptions) -> Recorded {
    Replay::new(options).record(TraceReader::new(text.as_bytes(), "t")).unwrap()
}

/// Each entry as `time action size sSTREAM [metadata]`.
fn entries(snapshot: &Snapshot) -> Vec<String> {
    let stacks = snapshot.stacks();
    let entries = snapshot.trace(0).iter().map(|entry| {
        let (time, name) = (entry.time_us().unwrap(), entry.action().name(stacks));
        let (bytes, stream) = (entry.size_bytes().unwrap(), entry.stream().unwrap());
        let text = entry.user_metadata(stacks).unwrap();
        format!("{time} {name} {bytes} s{stream} {text}").trim_end().to_owned()
    });
    entries.collect()
}

#[test]
fn time_is_the_number_of_the_event_and_a_mark_its_phase() {
    let text = "a,1,4194304,0\nm,step 1\na,2,1000,3\n\ns\nf,1\nm,step 2\nf,2\n";
    let recorded = record(text, ReplayOptions::default());
    assert_eq!(recorded.report.events, 7);
    let expected = [
        "1 segment_alloc 67108864 s0",
        "1 alloc 4194304 s0",
        "3 segment_alloc 2097152 s1 step 1",
        "3 alloc 1000 s1 step 1",
        "5 free_requested 4194304 s0 step 1",
        "5 free_completed 4194304 s0 step 1",
        "7 free_requested 1000 s1 step 2",
        "7 free_completed 1000 s1 step 2",
    ];
    assert_eq!(entries(&recorded.snapshot), expected);
    assert_eq!(recorded.snapshot.verify(), []);
    let stacks = recorded.snapshot.stacks();
    let ranges = recorded.snapshot.external_annotations.iter().flatten().map(|range| {
        let (stage, name) = (range.stage(stacks).unwrap(), range.name(stacks).unwrap());
        format!("{} {stage} {name}", range.time_us().unwrap())
    });
    let expected = ["2 START step 1", "6 END step 1", "6 START step 2", "7 END step 2"];
    assert_eq!(ranges.collect::<Vec<_>>(), expected);
}

#[test]
fn out_of_memory_is_the_last_event() {
    let options = ReplayOptions { memory_bytes: Some(64 << 20), ..ReplayOptions::default() };
    let recorded = record("a,1,4194304,0\na,2,67108864,0\nf,1\n", options);
    let oom = recorded.report.out_of_memory.unwrap();
    assert_eq!((oom.event, oom.line), (2, 2));
    let entries = entries(&recorded.snapshot);
    assert_eq!(entries.last().unwrap(), "2 oom 67108864 s0");
    assert_eq!(recorded.snapshot.verify(), []);
}

#[test]
fn recording_changes_no_figure() {
    let trace = corpus("gpt2_bf16");
    let replay = Replay::new(ReplayOptions::default());
    let mut plain = replay.run(trace.events()).unwrap().report;
    let mut recorded = replay.record(trace.events()).unwrap().report;
    (plain.elapsed_ns, recorded.elapsed_ns) = (0, 0);
    assert_eq!(plain, recorded);
}

fn corpus(name: &str) -> Trace {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/traces");
    Trace::read_input(&TraceInput::File(root.join(format!("{name}.csv.zst"))), false).unwrap()
}

/// Allocations and frees with ids in the order of allocation and dense streams: what a history keeps.
fn essence(source: impl EventSource) -> Vec<Event> {
    let (mut ids, mut streams) = (HashMap::new(), HashMap::from([(0, 0)]));
    let mut kept = Vec::new();
    for line in source {
        match line.unwrap().event {
            // A request of no bytes gets no block.
            Event::Allocate { bytes: 0, .. } => {}
            Event::Allocate { id, bytes, stream } => {
                let n_streams = streams.len() as u64;
                let stream = *streams.entry(stream).or_insert(n_streams);
                ids.insert(id, kept.len() as u64);
                kept.push(Event::Allocate { id: kept.len() as u64, bytes, stream });
            }
            Event::Free { id } => kept.extend(ids.remove(&id).map(|id| Event::Free { id })),
            _ => {}
        }
    }
    kept
}

#[track_caller]
fn check_round_trip(name: &str) {
    let trace = corpus(name);
    let recorded = Replay::new(ReplayOptions::default()).record(trace.events()).unwrap();
    assert_eq!(recorded.snapshot.verify(), [], "{name}");
    let history = HistoryEvents::new(&recorded.snapshot, 0, name);
    assert!(essence(history) == essence(trace.events()), "{name}");
}

#[test]
fn a_trace_survives_the_way_through_a_snapshot() {
    check_round_trip("gpt2_bf16");
    check_round_trip("resnet50");
    check_round_trip("fsdp_llama1b");
}
