//! Histories as traces: hand-made ones line by line, the genuine ones against their segments.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use neuronx_mem_replay::{
    Compression, Event, EventSource, HistoryEvents, ReplayError, Trace, TraceInput, write_trace,
};
use neuronx_mem_snapshot::{
    Action, Annotation, Block, BlockState, Limits, Segment, Snapshot, StackTable, TraceEntry,
};

/// An entry from `action address size stream`, the last two optional; time is the position.
fn entry(text: &str, time_us: u64, stacks: &mut StackTable) -> TraceEntry {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap();
    let action = Action::from_name(name).unwrap_or_else(|| Action::Other(stacks.intern_text(name)));
    let mut number = || words.next().map(|word| word.parse::<u64>().unwrap());
    let mut entry = TraceEntry::new(action).with_time_us(time_us);
    if let Some(addr) = number() {
        entry = entry.with_addr(addr);
    }
    if let Some(bytes) = number() {
        entry = entry.with_size_bytes(bytes);
    }
    if let Some(stream) = number() {
        entry = entry.with_stream(stream);
    }
    entry
}

/// A snapshot of device 0 with these entries, one each `;`, and nothing in its segments.
fn history(entries: &str) -> Snapshot {
    let mut snapshot = Snapshot::new();
    snapshot.set_n_devices(1);
    for (time_us, text) in (1..).zip(entries.split(';').map(str::trim).filter(|text| !text.is_empty())) {
        let entry = entry(text, time_us, snapshot.stacks_mut());
        snapshot.push_entry(0, entry);
    }
    snapshot
}

/// Adds a segment of blocks `size requested`, a free one with `-`, from an address on.
fn with_segment(mut snapshot: Snapshot, address: u64, blocks: &[(u64, Option<u64>)]) -> Snapshot {
    let mut next = address;
    let blocks = blocks.iter().map(|(bytes, requested)| {
        let state = if requested.is_some() { BlockState::ActiveAllocated } else { BlockState::Inactive };
        let block = Block::new(next, *bytes, state).with_requested_bytes(requested.unwrap_or(0));
        next += bytes;
        block
    });
    let blocks = blocks.collect();
    snapshot.segments.push(Segment::from_blocks(0, address, false, blocks));
    snapshot
}

fn written(snapshot: &Snapshot) -> String {
    let mut text = Vec::new();
    write_trace(HistoryEvents::new(snapshot, 0, "t"), &mut text, Compression::None).unwrap();
    String::from_utf8(text).unwrap()
}

#[track_caller]
fn check(snapshot: &Snapshot, expected: &str) {
    let expected: String = expected.split_whitespace().map(|line| line.replace('_', " ") + "\n").collect();
    assert_eq!(written(snapshot), format!("# name: t\n# source: memory snapshot, device 0\n{expected}"));
}

#[test]
fn allocations_and_completed_frees_are_the_events() {
    let entries = "segment_alloc 4096 8192; alloc 4096 100; alloc 4608 200; free_requested 4096 100;
        free_completed 4096 100; alloc 4096 50; segment_free 9999 1";
    check(&history(entries), "a,1,100,0 a,2,200,0 f,1 a,3,50,0");
}

#[test]
fn a_free_that_waits_ends_when_it_completes() {
    let entries = "alloc 1 10; free_requested 1 10; alloc 100 20; free_completed 1 10; free_requested 100 20";
    check(&history(entries), "a,1,10,0 a,2,20,0 f,1");
}

#[test]
fn requests_end_lives_where_completions_were_not_recorded() {
    check(&history("alloc 1 10; free_requested 1 10; alloc 1 20"), "a,1,10,0 f,1 a,2,20,0");
}

#[test]
fn what_is_freed_without_having_been_allocated_lived_before() {
    let entries = "free_completed 2000 7 5; alloc 1000 8; free_completed 1000 8; free_completed 500 9";
    let expected = "m,baseline a,1,9,0 a,2,7,1 m,history f,2 a,3,8,0 f,3 f,1";
    check(&history(entries), expected);
    // A second free of the same address has no allocation that could be placed anywhere.
    check(&history("free_completed 1 7; free_completed 1 7"), "m,baseline a,1,7,0 m,history f,1");
}

#[test]
fn what_is_alive_at_the_end_without_an_allocation_lived_before() {
    let snapshot =
        with_segment(history("alloc 5608 33"), 4096, &[(512, Some(300)), (1000, None), (64, Some(33))]);
    check(&snapshot, "m,baseline a,1,300,0 m,history a,2,33,0");
    let snapshot = with_segment(history(""), 4096, &[(512, Some(300)), (512, None), (512, Some(1))]);
    check(&snapshot, "m,baseline a,1,300,0 a,2,1,0 m,history");
}

#[test]
fn a_block_is_proof_that_those_below_it_were_freed() {
    let entries = "alloc 1000 100; alloc 1100 100; alloc 1300 100; alloc 1050 200; alloc 1299 1";
    check(&history(entries), "a,1,100,0 a,2,100,0 a,3,100,0 f,2 f,1 a,4,200,0 a,5,1,0");
    check(&history("alloc 7 0; alloc 7 0"), "a,1,0,0 f,1 a,2,0,0");
}

#[test]
fn what_only_the_segments_tell_comes_last() {
    // 4096 is free and nothing says since when; 4608 holds another block than the one recorded.
    let entries = "alloc 4096 100; alloc 4608 200; alloc 5120 300; free_completed 5120 300; alloc 99 1";
    let snapshot = with_segment(history(entries), 4096, &[(512, None), (512, Some(201)), (512, Some(9))]);
    check(&snapshot, "a,1,100,0 a,2,200,0 a,3,300,0 f,3 a,4,1,0 m,unrecorded f,1 f,2 a,5,201,0 a,6,9,0");
}

#[test]
fn streams_are_numbered_as_they_appear_and_the_default_stays() {
    let top = u64::MAX;
    let entries = format!("alloc 1 1 {top}; alloc 2 1 7; alloc 3 1 0; alloc 4 1 {top}; alloc {top} 5 7");
    check(&history(&entries), "a,1,1,1 a,2,1,2 a,3,1,0 a,4,1,1 a,5,5,2");
}

#[test]
fn everything_else_is_a_mark() {
    let mut snapshot = history("alloc 1 1; snapshot 0 77; oom 0 640; annotate 1 1; workspace 9 9; alloc 0 0");
    assert_eq!(snapshot.trace(0).len(), 6);
    let text = snapshot.stacks_mut().intern_text("a\nb\r");
    let annotated = snapshot.trace(0)[3].with_user_metadata(text);
    snapshot.device_traces.as_mut().unwrap()[0][3] = annotated;
    check(&snapshot, "a,1,1,0 m,snapshot m,oom_640 m,annotate_a_b m,workspace");
}

#[test]
fn ranges_stand_where_their_times_say() {
    let mut snapshot = history("alloc 1 1; alloc 2 1; alloc 3 1");
    for (is_start, name, device, time_us) in [
        (true, "one", 0, 0),
        (true, "two", 0, 2),
        (true, "elsewhere", 1, 2),
        (false, "two", 0, 2),
        (false, "one", 0, 9),
    ] {
        let name = snapshot.stacks_mut().intern_text(name);
        let annotation = Annotation::new(is_start, name, device, time_us);
        snapshot.external_annotations.get_or_insert_default().push(annotation);
    }
    check(&snapshot, "m,begin_one a,1,1,0 m,begin_two a,2,1,0 m,end_two a,3,1,0 m,end_one");
}

#[test]
fn labels_are_one_line_of_bounded_length() {
    let mut snapshot = Snapshot::new();
    let name = snapshot.stacks_mut().intern_text(&"é".repeat(100_000));
    snapshot.external_annotations = Some(vec![Annotation::new(true, name, 0, 1)]);
    let text = written(&snapshot);
    assert_eq!(text.lines().last().unwrap(), format!("m,begin {}", "é".repeat(497)));
}

#[test]
fn a_snapshot_without_anything_has_no_events() {
    let snapshot = Snapshot::new();
    let error = Trace::read(HistoryEvents::new(&snapshot, 0, "empty.pickle")).unwrap_err();
    assert_eq!(error.to_string(), "empty.pickle: holds no events");
}

#[test]
fn the_first_device_is_read_unless_another_is_asked_for() {
    let mut snapshot = Snapshot::new();
    let alloc = |bytes| TraceEntry::new(Action::Alloc).with_addr(4096).with_size_bytes(bytes);
    snapshot.push_entry(1, alloc(11));
    snapshot.push_entry(3, alloc(33));
    assert_eq!(HistoryEvents::devices(&snapshot), [1, 3]);
    let first = |device| {
        let mut events = HistoryEvents::of_device(&snapshot, device, "t")?;
        let line = events.next().unwrap()?;
        Ok::<_, ReplayError>((line.event, events.header("source").unwrap().to_owned()))
    };
    let event = |bytes| Event::Allocate { id: 1, bytes, stream: 0 };
    assert_eq!(first(None).unwrap(), (event(11), "memory snapshot, device 1".to_owned()));
    assert_eq!(first(Some(3)).unwrap(), (event(33), "memory snapshot, device 3".to_owned()));
    let message = first(Some(0)).unwrap_err().to_string();
    assert_eq!(message, "t: device 0 has neither events nor segments");
}

#[test]
fn dropped_entries_are_told() {
    let mut snapshot = history("alloc 1 1");
    snapshot.add_dropped_entries(12);
    assert!(written(&snapshot).contains("# dropped: 12\n"));
}

fn sample_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/data/snapshots/{name}.pickle"))
}

/// Allocations, frees and marks of a sample; the live blocks at the end are those of its segments.
#[track_caller]
fn check_sample(name: &str, n_allocations: usize, n_frees: usize, n_marks: usize) {
    let path = sample_path(name);
    let snapshot = Snapshot::read_file(&path, &Limits::default()).unwrap();
    let trace = Trace::read_input(&TraceInput::File(path), false).unwrap();
    let events: Vec<Event> = trace.events().map(|line| line.unwrap().event).collect();
    let count = |is: fn(&Event) -> bool| events.iter().filter(|event| is(event)).count();
    assert_eq!(count(|event| matches!(event, Event::Allocate { .. })), n_allocations, "{name}");
    assert_eq!(count(|event| matches!(event, Event::Free { .. })), n_frees, "{name}");
    assert_eq!(count(|event| matches!(event, Event::Mark(_))), n_marks, "{name}");
    let mut live = BTreeMap::new();
    for event in events {
        match event {
            Event::Allocate { id, bytes, .. } => assert_eq!(live.insert(id, bytes), None),
            Event::Free { id } => assert!(live.remove(&id).is_some()),
            _ => {}
        }
    }
    let mut live: Vec<u64> = live.into_values().collect();
    let blocks = snapshot.segments.iter().flat_map(Segment::blocks).filter(|block| block.is_active());
    let mut active: Vec<u64> = blocks.filter_map(Block::requested_bytes).collect();
    live.sort_unstable();
    active.sort_unstable();
    assert_eq!(live, active, "{name}");
}

#[test]
fn genuine_histories_end_in_their_segments() {
    check_sample("small_history", 131, 124, 0);
    check_sample("two_snapshots", 69, 66, 1);
    check_sample("multi_stream", 86, 72, 0);
    check_sample("oom", 405, 360, 2);
    check_sample("annotations", 81, 74, 18);
    check_sample("private_pools", 18, 9, 0);
    check_sample("train_transformer", 1934, 1706, 12);
}

#[test]
fn a_ring_that_wrapped_anywhere_ends_in_the_same_segments() {
    let whole = Snapshot::read_file(sample_path("multi_stream"), &Limits::default()).unwrap();
    let blocks = whole.segments.iter().flat_map(Segment::blocks).filter(|block| block.is_active());
    let mut active: Vec<u64> = blocks.filter_map(Block::requested_bytes).collect();
    active.sort_unstable();
    for n_dropped in 0..=whole.trace(0).len() {
        let mut snapshot = whole.clone();
        snapshot.device_traces.as_mut().unwrap()[0].drain(..n_dropped);
        let mut live = BTreeMap::new();
        for line in HistoryEvents::new(&snapshot, 0, "t") {
            match line.unwrap().event {
                Event::Allocate { id, bytes, .. } => assert_eq!(live.insert(id, bytes), None),
                Event::Free { id } => assert!(live.remove(&id).is_some()),
                Event::Mark(label) => assert_ne!(label.as_ref(), "unrecorded"),
                _ => {}
            }
        }
        let mut live: Vec<u64> = live.into_values().collect();
        live.sort_unstable();
        assert_eq!(live, active, "{n_dropped} dropped");
    }
}

#[test]
fn the_stack_of_an_allocation_can_be_asked_for() {
    let mut snapshot =
        with_segment(history("alloc 4096 512; free_completed 4096"), 0x9000, &[(256, Some(200))]);
    let frame = snapshot.stacks_mut().intern_frame("forward", "model.py", 12);
    let stack = snapshot.stacks_mut().intern_stack(&[frame]);
    let traces = snapshot.device_traces.as_mut().unwrap();
    traces[0][0] = traces[0][0].with_stack(stack);
    let mut events = HistoryEvents::new(&snapshot, 0, "made");
    assert_eq!(events.last_stack(), None);
    let mut seen = Vec::new();
    while let Some(line) = events.next() {
        seen.push((line.unwrap().event, events.last_stack()));
    }
    let stacks: Vec<_> = seen.iter().map(|(_, stack)| *stack).collect();
    let kinds: Vec<&str> = seen
        .iter()
        .map(|(event, _)| match event {
            Event::Allocate { .. } => "a",
            Event::Free { .. } => "f",
            _ => "m",
        })
        .collect();
    // The block that lived before has the empty stack of its segment's list.
    assert_eq!(kinds, ["m", "a", "m", "a", "f"]);
    assert_eq!(stacks, [None, Some(neuronx_mem_snapshot::StackId::EMPTY), None, Some(stack), None]);
}
