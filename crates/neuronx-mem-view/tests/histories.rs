//! Histories that do not tell everything: late starts, rings that wrapped, expandable segments, none at
//! all. The recording shows what the file shows and says where it had to infer.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_replay::{Input, ReplayOptions};
use neuronx_mem_snapshot::{Action, Annotation, Block, BlockState, Segment, Snapshot, TraceEntry};
use neuronx_mem_view::{EventKind, MarkKind, Origin, Recording, STILL_LIVE};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// A segment of PyTorch with blocks of these sizes, in use or not.
fn segment(address: u64, blocks: &[(u64, bool)]) -> Segment {
    let mut next = address;
    let mut made = Vec::new();
    for (bytes, is_live) in blocks {
        let state = if *is_live { BlockState::ActiveAllocated } else { BlockState::Inactive };
        made.push(Block::new(next, *bytes, state).with_requested_bytes(bytes - 12));
        next += bytes;
    }
    Segment::from_blocks(0, address, false, made)
}

fn entry(action: Action, address: u64, bytes: u64) -> TraceEntry {
    TraceEntry::new(action).with_addr(address).with_size_bytes(bytes)
}

fn recording(segments: Vec<Segment>, entries: Vec<TraceEntry>) -> Recording {
    let mut snapshot = Snapshot::new();
    snapshot.set_n_devices(1);
    snapshot.segments = segments;
    for (time, entry) in (1000..).zip(entries) {
        snapshot.push_entry(0, entry.with_time_us(time));
    }
    of(snapshot)
}

fn of(snapshot: Snapshot) -> Recording {
    let input = Input::from_snapshot(Box::new(snapshot), None, "made").unwrap();
    Recording::of(&input, &ReplayOptions::default()).unwrap()
}

#[test]
fn without_a_history_there_is_one_moment() {
    let recording = recording(vec![segment(0x10000, &[(4 * MIB, true), (16 * MIB, false)])], vec![]);
    assert_eq!(recording.n_events(), 0);
    assert_eq!(recording.timeline.reserved_bytes, [20 * MIB]);
    assert_eq!(recording.timeline.allocated_bytes, [4 * MIB]);
    assert_eq!(recording.timeline.active_bytes, [4 * MIB - 12]);
    assert_eq!(recording.map_at(0)[0].blocks.len(), 1);
    assert!(recording.timeline.times_us.is_empty());
}

#[test]
fn what_lived_before_the_first_entry_stands_at_event_0() {
    let free = |address, bytes| {
        [entry(Action::FreeRequested, address, bytes), entry(Action::FreeCompleted, address, bytes)]
    };
    let recording = recording(
        vec![segment(0x10000, &[(4 * MIB, true), (2 * MIB, false), (14 * MIB, true)])],
        free(0x10000 + 4 * MIB, 2 * MIB - 100).to_vec(),
    );
    assert_eq!(recording.allocations.births, [0, 0, 0]);
    assert_eq!(recording.allocations.deaths, [STILL_LIVE, 2, STILL_LIVE]);
    assert_eq!(recording.timeline.allocated_bytes, [20 * MIB, 20 * MIB, 18 * MIB]);
    assert_eq!(recording.timeline.reserved_bytes, [20 * MIB; 3]);
    assert!(matches!(recording.origin, Origin::Snapshot { n_inferred: 1, is_own: false, .. }));
    assert_eq!(recording.events.kinds, [EventKind::Other, EventKind::Free]);
    assert_eq!(recording.timeline.times_us, [1000, 1000, 1001]);
}

#[test]
fn a_segment_that_went_was_there_before() {
    let recording = recording(
        vec![segment(0x10000, &[(20 * MIB, false)])],
        vec![
            entry(Action::SegmentFree, 0x9000_0000, 64 * MIB),
            entry(Action::SegmentAlloc, 0x10000, 20 * MIB),
        ],
    );
    assert_eq!(recording.timeline.reserved_bytes, [64 * MIB, 0, 20 * MIB]);
    let lives: Vec<_> = recording.segments.iter().map(|it| (it.birth, it.death)).collect();
    assert_eq!(lives, [(0, 1), (2, STILL_LIVE)]);
}

#[test]
fn ranges_of_an_expandable_segment_come_and_go() {
    let base = 0x7000_0000;
    let recording = recording(
        vec![segment(base, &[(20 * MIB, false)]), segment(base + 40 * MIB, &[(20 * MIB, true)])],
        vec![
            entry(Action::SegmentMap, base, 20 * MIB),
            entry(Action::SegmentMap, base + 20 * MIB, 40 * MIB),
            entry(Action::Alloc, base + 40 * MIB, 20 * MIB - 12),
            entry(Action::SegmentUnmap, base + 20 * MIB, 20 * MIB),
        ],
    );
    assert_eq!(recording.timeline.reserved_bytes, [0, 20 * MIB, 60 * MIB, 60 * MIB, 40 * MIB]);
    let map: Vec<_> =
        recording.map_at(4).iter().map(|it| (it.segment.address - base, it.blocks.len())).collect();
    assert_eq!(map, [(0, 0), (40 * MIB, 1)]);
    assert_eq!(recording.totals.allocated_bytes, 20 * MIB);
}

#[test]
fn segments_that_no_entry_explains_come_at_the_end() {
    // The history ends with a segment more than the file has.
    let recording = recording(
        vec![segment(0x10000, &[(2 * MIB, true)])],
        vec![entry(Action::SegmentFree, 0x10000, 2 * MIB)],
    );
    let n_events = usize::try_from(recording.n_events()).unwrap();
    assert_eq!(recording.timeline.reserved_bytes[n_events], 2 * MIB);
    assert_eq!(recording.totals.reserved_bytes, 2 * MIB);
    assert_eq!(recording.map_at(recording.n_events()).len(), 1);
}

#[test]
fn marks_and_errors_are_told_apart() {
    let mut snapshot = Snapshot::new();
    snapshot.set_n_devices(1);
    snapshot.segments.push(segment(0x10000, &[(512 * KIB, true), (1536 * KIB, false)]));
    let range = snapshot.stacks_mut().intern_text("forward");
    let text = snapshot.stacks_mut().intern_text("weights");
    snapshot.external_annotations =
        Some(vec![Annotation::new(true, range, 0, 1000), Annotation::new(false, range, 0, 1003)]);
    let times = 1000..;
    let entries = [
        entry(Action::SegmentAlloc, 0x10000, 2 * MIB),
        entry(Action::Alloc, 0x10000, 512 * KIB - 12).with_trace_id(77),
        entry(Action::Annotate, 0x10000, 512 * KIB - 12).with_user_metadata(text),
        TraceEntry::new(Action::Oom).with_size_bytes(9 * MIB).with_device_free_bytes(3 * MIB),
        entry(Action::Snapshot, 0, 512 * KIB),
    ];
    for (time, entry) in times.zip(entries) {
        snapshot.push_entry(0, entry.with_time_us(time));
    }
    let recording = of(snapshot);
    let marks: Vec<_> = recording.marks.iter().map(|mark| (mark.event, mark.kind, &*mark.label)).collect();
    assert_eq!(
        marks,
        [
            (1, MarkKind::Begin, "forward"),
            (3, MarkKind::Annotate, "weights"),
            // What a range holds of one microsecond stands before its end.
            (5, MarkKind::End, "forward"),
            (5, MarkKind::Other, "snapshot"),
        ]
    );
    let oom = &recording.ooms[0];
    assert_eq!((oom.event, oom.bytes, oom.device_free_bytes), (4, 9 * MIB, Some(3 * MIB)));
    assert_eq!(recording.device_total_bytes, Some(5 * MIB));
    assert_eq!(recording.allocations.trace_ids, [77]);
    assert_eq!(recording.sites.phase(recording.allocations.sites[0]), Some("forward"));
    let kinds = &recording.events.kinds;
    assert_eq!(
        kinds[..4],
        [EventKind::Segment, EventKind::Allocate, EventKind::Mark, EventKind::OutOfMemory]
    );
}
