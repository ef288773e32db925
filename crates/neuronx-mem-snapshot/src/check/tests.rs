//! Checks: one broken promise a case.

use crate::check::Problem;
use crate::{Action, Block, BlockState, Limits, Segment, Snapshot, TraceEntry};

/// A sound snapshot of two segments, as JSON to be damaged.
fn sound() -> Snapshot {
    let mut snapshot = Snapshot::new();
    snapshot.set_n_devices(1);
    let blocks = vec![
        Block::new(4096, 512, BlockState::ActiveAllocated).with_requested_bytes(300),
        Block::new(4608, 1024, BlockState::ActivePendingFree).with_requested_bytes(1000),
        Block::new(5632, 512, BlockState::Inactive).with_requested_bytes(77),
    ];
    snapshot.segments.push(Segment::from_blocks(0, 4096, true, blocks));
    snapshot.segments.push(Segment::from_blocks(
        0,
        8192,
        false,
        vec![Block::new(8192, 256, BlockState::Inactive)],
    ));
    snapshot
}

#[track_caller]
fn check(from: &str, to: &str, expected: &[&str]) {
    let text = String::from_utf8(sound().to_json().unwrap()).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{from} in {text}");
    let damaged = Snapshot::read_slice(text.replace(from, to).as_bytes(), &Limits::default()).unwrap();
    let problems: Vec<_> = damaged.verify().iter().map(ToString::to_string).collect();
    assert_eq!(problems, expected);
}

#[test]
fn a_sound_snapshot() {
    assert_eq!(sound().verify(), []);
    assert_eq!(Snapshot::new().verify(), []);
}

#[test]
fn each_promise() {
    check(
        "\"total_size\":2048",
        "\"total_size\":2049",
        &["segment 0: `total_size` is 2049, its blocks add up to 2048"],
    );
    check(
        "\"allocated_size\":512",
        "\"allocated_size\":0",
        &["segment 0: `allocated_size` is 0, its blocks add up to 512"],
    );
    check(
        "\"active_size\":1536",
        "\"active_size\":512",
        &["segment 0: `active_size` is 512, its blocks add up to 1536"],
    );
    check(
        "\"requested_size\":1300",
        "\"requested_size\":1377",
        &["segment 0: `requested_size` is 1377, its blocks add up to 1300"],
    );
    check("\"address\":5632", "\"address\":5633", &["segment 0, block 2: starts at 0x1601, not at 0x1600"]);
    check(
        "\"active_pending_free\"",
        "\"lost\"",
        &[
            "segment 0, block 1: unknown state `lost`",
            "segment 0: `active_size` is 1536, its blocks add up to 512",
            "segment 0: `requested_size` is 1300, its blocks add up to 300",
        ],
    );
    check(
        "\"address\":4608,\"size\":1024,",
        "\"address\":4608,",
        &[
            "segment 0, block 1: key `size` is missing",
            "segment 0, block 2: starts at 0x1600, not at 0x1200",
            "segment 0: `total_size` is 2048, its blocks add up to 1024",
            "segment 0: `active_size` is 1536, its blocks add up to 512",
        ],
    );
    check("\"total_size\":256,", "", &["segment 1: key `total_size` is missing"]);
    check(
        "\"device\":0,\"address\":8192",
        "\"device\":3,\"address\":8192",
        &["segment 1: device 3 has no list among the 1 device traces"],
    );
    check(
        "\"device\":0,\"address\":8192",
        "\"device\":-1,\"address\":8192",
        &["segment 1: device -1 has no list among the 1 device traces"],
    );
}

#[test]
fn what_old_files_lack_is_no_problem() {
    check("\"address\":5632,", "", &[]);
    check("\"allocated_size\":512,", "", &[]);
    check("\"device\":0,\"address\":4096", "\"address\":4096", &[]);
    check("\"device_traces\":[[]],", "", &[]);
    // The docstring's name of the state.
    check("\"active_pending_free\"", "\"active_awaiting_free\"", &[]);
}

#[test]
fn segments_of_a_device_do_not_overlap() {
    let mut snapshot = sound();
    snapshot.segments.swap(0, 1);
    let expected = [Problem::SegmentOrder { segment_idx: 1, address: 4096, previous_end: 8448 }];
    assert_eq!(snapshot.verify(), expected);
}

#[test]
fn host_segments_report_their_whole_size_as_requested() {
    let mut snapshot = sound();
    let text = r#"[{"device":-1,"address":64,"total_size":64,"allocated_size":0,"active_size":0,"requested_size":64,
        "stream":0,"segment_type":"small","segment_pool_id":[0,0],"is_expandable":false,"frames":[],
        "blocks":[{"address":64,"size":64,"requested_size":0,"state":"inactive","frames":[]}]}]"#;
    let host = Snapshot::read_slice(text.as_bytes(), &Limits::default()).unwrap();
    snapshot.host_segments = Some(host.segments);
    assert_eq!(snapshot.verify(), []);
    snapshot.host_segments = Some(sound().segments);
    assert_eq!(snapshot.verify().len(), 2, "the device of a host segment is -1");
}

#[test]
fn sums_beyond_64_bits_are_told_not_wrapped() {
    let blocks =
        vec![Block::new(0, u64::MAX, BlockState::Inactive), Block::new(u64::MAX, 2, BlockState::Inactive)];
    let mut snapshot = Snapshot::new();
    snapshot.set_n_devices(1);
    snapshot.segments.push(Segment::from_blocks(0, 0, true, blocks));
    let expected = [Problem::Sum {
        is_host: false,
        segment_idx: 0,
        key: "total_size",
        expected_bytes: u128::from(u64::MAX) + 2,
        found_bytes: u64::MAX,
    }];
    assert_eq!(snapshot.verify(), expected);
}

/// Replays events such as `a1 f1`: alloc or free_completed of an address, sizes are ten times that.
#[track_caller]
fn check_replay(events: &str, live: &[(u64, u64)], n_unmatched_frees: u64, n_repeated_allocs: u64) {
    let mut snapshot = Snapshot::new();
    for event in events.split_whitespace() {
        let (action, addr) = event.split_at(1);
        let addr: u64 = addr.parse().unwrap();
        let action = match action {
            "a" => Action::Alloc,
            "f" => Action::FreeCompleted,
            _ => Action::FreeRequested,
        };
        snapshot.push_entry(0, TraceEntry::new(action).with_addr(addr).with_size_bytes(addr * 10));
    }
    let replayed = snapshot.replay_live_blocks(0);
    assert_eq!(replayed.requested_bytes.iter().map(|(&a, &b)| (a, b)).collect::<Vec<_>>(), live);
    assert_eq!(
        (replayed.n_unmatched_frees, replayed.n_repeated_allocs),
        (n_unmatched_frees, n_repeated_allocs)
    );
    assert_eq!(replayed.is_consistent(), n_unmatched_frees + n_repeated_allocs == 0);
}

#[test]
fn replay() {
    check_replay("", &[], 0, 0);
    check_replay("a1 a2 r1 f1 a3", &[(2, 20), (3, 30)], 0, 0);
    check_replay("a1 r1", &[(1, 10)], 0, 0);
    check_replay("f7 a1", &[(1, 10)], 1, 0);
    check_replay("a1 a1", &[(1, 10)], 0, 1);
    check_replay("a0 f0", &[], 0, 0);
    check_replay("a1 f1 a1", &[(1, 10)], 0, 0);
}
