//! Timelines: a tiny one letter by letter, the genuine ones by their sums.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::collections::HashMap;
use std::path::Path;

use neuronx_mem_replay::write_perfetto;
use neuronx_mem_snapshot::{Action, Annotation, Block, Limits, Segment, Snapshot, TraceEntry};
use serde_json::Value;

fn written(snapshot: &Snapshot, device_idx: Option<usize>) -> String {
    let mut json = Vec::new();
    write_perfetto(snapshot, device_idx, &mut json).unwrap();
    String::from_utf8(json).unwrap()
}

#[test]
fn a_tiny_history_is_written_letter_by_letter() {
    let mut snapshot = Snapshot::new();
    let stacks = snapshot.stacks_mut();
    let frame = stacks.intern_frame("forward", "net \"1\".py", 12);
    let stack = stacks.intern_stack(&[frame]);
    let name = stacks.intern_text("step 0");
    let at = |action, time_us| TraceEntry::new(action).with_time_us(time_us).with_addr(0x1000);
    snapshot.push_entry(0, at(Action::SegmentAlloc, 10).with_size_bytes(2 << 20));
    snapshot.push_entry(0, at(Action::Alloc, 11).with_size_bytes(512).with_stack(stack).with_stream(9));
    snapshot.push_entry(0, at(Action::FreeRequested, 12).with_size_bytes(512));
    snapshot.push_entry(0, at(Action::FreeCompleted, 15).with_size_bytes(512));
    snapshot.push_entry(0, at(Action::Oom, 16).with_size_bytes(1024));
    snapshot.push_entry(0, at(Action::SegmentFree, 17).with_size_bytes(2 << 20));
    snapshot.external_annotations = Some(vec![Annotation::new(true, name, 0, 11)]);
    let expected = r#"{"displayTimeUnit":"ns","traceEvents":[
{"name":"process_name","ph":"M","ts":10,"pid":1,"tid":0,"args":{"name":"Device 0"}},
{"name":"thread_name","ph":"M","ts":10,"pid":1,"tid":0,"args":{"name":"Program"}},
{"name":"reserved","ph":"C","ts":10,"pid":1,"tid":0,"args":{"bytes":0}},
{"name":"reserved","ph":"C","ts":10,"pid":1,"tid":0,"args":{"bytes":2097152}},
{"name":"step 0","cat":"program","ph":"B","ts":11,"pid":1,"tid":0},
{"name":"thread_name","ph":"M","ts":11,"pid":1,"tid":1,"args":{"name":"Stream 0"}},
{"name":"thread_name","ph":"M","ts":11,"pid":1,"tid":2,"args":{"name":"Stream 1"}},
{"name":"forward (net \"1\".py:12)","cat":"block","ph":"b","ts":11,"pid":1,"tid":2,"id":"0-1","args":{"address":"0x1000","bytes":512,"stream":1}},
{"name":"allocated","ph":"C","ts":11,"pid":1,"tid":0,"args":{"bytes":512}},
{"name":"forward (net \"1\".py:12)","cat":"block","ph":"e","ts":15,"pid":1,"tid":2,"id":"0-1"},
{"name":"allocated","ph":"C","ts":15,"pid":1,"tid":0,"args":{"bytes":0}},
{"name":"oom 1024","cat":"program","ph":"i","ts":16,"pid":1,"tid":0,"s":"p"},
{"name":"reserved","ph":"C","ts":17,"pid":1,"tid":0,"args":{"bytes":0}}
]}
"#;
    assert_eq!(written(&snapshot, None), expected);
    assert_eq!(written(&snapshot, Some(0)), expected);
    assert_eq!(written(&Snapshot::new(), None), "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n]}\n");
}

#[test]
fn what_was_there_before_the_first_event_counts_from_the_start() {
    let mut snapshot = Snapshot::new();
    let free = TraceEntry::new(Action::FreeCompleted).with_time_us(5).with_addr(0x1000).with_size_bytes(300);
    snapshot.push_entry(2, free);
    let block = Block::new(0x1000, 4096, neuronx_mem_snapshot::BlockState::Inactive);
    snapshot.segments.push(Segment::from_blocks(2, 0x1000, true, vec![block]));
    let events: Value = serde_json::from_str(&written(&snapshot, None)).unwrap();
    let counters = |name: &str| -> Vec<u64> {
        let events = events["traceEvents"].as_array().unwrap().iter();
        let own = events.filter(|event| event["ph"] == "C" && event["name"] == name);
        own.map(|event| event["args"]["bytes"].as_u64().unwrap()).collect()
    };
    assert_eq!(counters("reserved"), [4096]);
    assert_eq!(counters("allocated"), [300, 0]);
    assert_eq!(events["traceEvents"][0]["pid"], 3);
}

/// The last counters of a sample are the sums of its segments; each slice that ends began before.
#[track_caller]
fn check_sample(name: &str) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/data/snapshots/{name}.pickle"));
    let snapshot = Snapshot::read_file(path, &Limits::default()).unwrap();
    let events: Value = serde_json::from_str(&written(&snapshot, None)).unwrap();
    let mut last = HashMap::new();
    let mut open = HashMap::new();
    let mut time = 0;
    for event in events["traceEvents"].as_array().unwrap() {
        let ts = event["ts"].as_u64().unwrap();
        assert!(ts >= time, "{name}: {event}");
        time = ts;
        let id = || event["id"].as_str().unwrap().to_owned();
        match event["ph"].as_str().unwrap() {
            "C" => {
                last.insert(event["name"].as_str().unwrap(), event["args"]["bytes"].as_u64().unwrap());
            }
            "b" => assert_eq!(open.insert(id(), event["name"].clone()), None),
            "e" => assert_eq!(open.remove(&id()), Some(event["name"].clone())),
            _ => {}
        }
    }
    let sum = |bytes: fn(&Segment) -> Option<u64>| snapshot.segments.iter().filter_map(bytes).sum::<u64>();
    assert_eq!(last["allocated"], sum(Segment::requested_bytes), "{name}");
    assert_eq!(last["reserved"], sum(Segment::total_bytes), "{name}");
    let blocks = snapshot.segments.iter().flat_map(Segment::blocks).filter(|block| block.is_active());
    assert_eq!(open.len(), blocks.count(), "{name}");
}

#[test]
fn genuine_timelines_end_in_the_sums_of_their_segments() {
    for name in [
        "annotations",
        "multi_stream",
        "oom",
        "private_pools",
        "small_history",
        "train_transformer",
        "two_snapshots",
    ] {
        check_sample(name);
    }
}
