//! The genuine snapshots: what they hold, that their promises hold, and that nothing is lost.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use common::{SAMPLES, sample, sample_bytes, sample_path};
use neuronx_mem_snapshot::{Action, BlockState, Format, Limits, Snapshot, Value};

#[test]
fn contents() {
    let mut table = String::from(
        "sample              segments blocks pending entries no-frames stacks frames annotations\n",
    );
    for name in SAMPLES {
        let snapshot = sample(name);
        let blocks: Vec<_> = snapshot.segments.iter().flat_map(|segment| segment.blocks()).collect();
        let n_pending =
            blocks.iter().filter(|block| block.state() == Some(BlockState::ActivePendingFree)).count();
        let without = snapshot.trace(0).iter().filter(|entry| entry.stack().is_none()).count();
        writeln!(
            table,
            "{name:<20}{:>8} {:>6} {:>7} {:>7} {:>9} {:>6} {:>6} {:>11}",
            snapshot.segments.len(),
            blocks.len(),
            n_pending,
            snapshot.trace(0).len(),
            without,
            snapshot.stacks().n_stacks(),
            snapshot.stacks().n_frames(),
            snapshot.external_annotations.as_ref().unwrap().len(),
        )
        .unwrap();
        assert_eq!(snapshot.device_traces.as_ref().unwrap().len(), 1, "{name}");
        assert_eq!(snapshot.host_segments.as_deref(), Some(&[][..]), "{name}");
        assert_eq!(snapshot.host_traces.as_deref(), Some(&[][..]), "{name}");
    }
    insta::assert_snapshot!(table);
}

#[test]
fn actions() {
    let mut table = String::new();
    for name in SAMPLES {
        let snapshot = sample(name);
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for entry in snapshot.trace(0) {
            assert!(!matches!(entry.action(), Action::Other(_)), "{name}");
            *counts.entry(entry.action().name(snapshot.stacks())).or_default() += 1;
        }
        writeln!(table, "{name}: {counts:?}").unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn all_sums_hold() {
    for name in SAMPLES {
        assert_eq!(sample(name).verify(), [], "{name}");
    }
}

/// Schema §3, computed apart from `verify`: the sums and the blocks that wait for their free.
#[test]
fn schema_3_sums_of_three_samples() {
    let mut table = String::from("sample         total      allocated  active     requested  pending\n");
    for name in ["oom", "private_pools", "multi_stream"] {
        let snapshot = sample(name);
        let (mut total, mut allocated, mut active, mut requested, mut pending) = (0, 0, 0, 0, 0);
        for segment in &snapshot.segments {
            let mut sums = [0; 4];
            for block in segment.blocks() {
                let (size, asked) = (block.size_bytes().unwrap(), block.requested_bytes().unwrap());
                let (in_use, waiting) = match block.state().unwrap() {
                    BlockState::ActiveAllocated => (size, 0),
                    BlockState::ActivePendingFree => (0, size),
                    _ => (0, 0),
                };
                let asked = if in_use + waiting > 0 { asked } else { 0 };
                sums = [sums[0] + size, sums[1] + in_use, sums[2] + in_use + waiting, sums[3] + asked];
                pending += u64::from(waiting > 0);
            }
            let stated = [
                segment.total_bytes(),
                segment.allocated_bytes(),
                segment.active_bytes(),
                segment.requested_bytes(),
            ];
            assert_eq!(stated.map(Option::unwrap), sums, "{name}");
            total += sums[0];
            allocated += sums[1];
            active += sums[2];
            requested += sums[3];
        }
        writeln!(table, "{name:<14} {total:<10} {allocated:<10} {active:<10} {requested:<10} {pending}")
            .unwrap();
    }
    insta::assert_snapshot!(table);
}

/// Schema §5: a complete history replays to the blocks that are not inactive.
#[test]
fn schema_5_replay_gives_the_live_blocks() {
    for name in SAMPLES {
        let snapshot = sample(name);
        let replayed = snapshot.replay_live_blocks(0);
        assert!(
            replayed.is_consistent(),
            "{name}: {} {}",
            replayed.n_unmatched_frees,
            replayed.n_repeated_allocs
        );
        let blocks = snapshot.segments.iter().flat_map(|segment| segment.blocks());
        let live: BTreeMap<u64, u64> = blocks
            .filter(|block| block.is_active())
            .map(|block| (block.address().unwrap(), block.requested_bytes().unwrap()))
            .collect();
        assert_eq!(replayed.requested_bytes, live, "{name}");
    }
}

#[test]
fn oom_events_have_free_bytes_instead_of_an_address() {
    let snapshot = sample("oom");
    let ooms: Vec<_> = snapshot.trace(0).iter().filter(|entry| entry.action() == Action::Oom).collect();
    assert_eq!(ooms.len(), 2);
    for entry in ooms {
        assert_eq!(entry.addr(), None);
        assert!(entry.device_free_bytes().is_some());
        assert_eq!(entry.size_bytes().unwrap() % 512, 0);
    }
}

#[test]
fn an_absent_stack_is_not_an_empty_one() {
    let snapshot = sample("two_snapshots");
    let marks: Vec<_> = snapshot.trace(0).iter().filter(|entry| entry.action() == Action::Snapshot).collect();
    assert_eq!(marks.len(), 1);
    assert_eq!(marks[0].stack(), None);
    let again = Snapshot::read_slice(&snapshot.to_pickle().unwrap(), &Limits::default()).unwrap();
    assert_eq!(again.trace(0).iter().filter(|entry| entry.stack().is_none()).count(), 1);
}

#[test]
fn settings_keep_type_and_order() {
    let snapshot = sample("small_history");
    assert_eq!(snapshot.setting("max_split_size").and_then(Value::as_int), Some(-1));
    assert_eq!(snapshot.setting("garbage_collection_threshold").and_then(Value::as_float), Some(0.0));
    assert_eq!(snapshot.setting("expandable_segments").and_then(Value::as_bool), Some(false));
    assert_eq!(snapshot.setting("PYTORCH_CUDA_ALLOC_CONF").and_then(Value::as_str), Some(""));
    let Some(Value::Dict(divisions)) = snapshot.setting("roundup_power2_divisions") else { panic!("a dict") };
    let keys: Vec<_> = divisions.iter().filter_map(|(key, _)| key.as_str()).collect();
    let powers: Vec<_> = (0..16).map(|power| (1 << power).to_string()).collect();
    assert_eq!(keys, powers);
}

#[test]
fn private_pools_have_ids() {
    let snapshot = sample("private_pools");
    let pools: BTreeSet<_> =
        snapshot.segments.iter().map(|segment| snapshot.stacks().pool(segment.pool().unwrap())).collect();
    assert_eq!(pools, BTreeSet::from([(0, 0), (0, 1), (1, 0)]));
}

#[test]
fn pickle_to_pickle_is_equal() {
    for name in SAMPLES {
        let original = sample(name);
        let bytes = original.to_pickle().unwrap();
        let again = Snapshot::read_slice(&bytes, &Limits::default()).unwrap();
        assert_eq!(again, original, "{name}");
        // Stacks stay shared, so the file cannot grow beyond Python's.
        assert!(bytes.len() < sample_bytes(name).len(), "{name}");
        assert_eq!(again.to_pickle().unwrap(), bytes, "{name}: writing is deterministic");
    }
}

#[test]
fn json_to_pickle_is_equal() {
    for name in SAMPLES {
        let original = sample(name);
        let from_json = Snapshot::read_slice(&original.to_json().unwrap(), &Limits::default()).unwrap();
        assert_eq!(from_json, original, "{name}");
        assert_eq!(from_json.to_pickle().unwrap(), original.to_pickle().unwrap(), "{name}");
    }
}

#[test]
fn read_file_goes_by_content() {
    let folder = tempfile::tempdir().unwrap();
    let misnamed = folder.path().join("snapshot.json");
    std::fs::copy(sample_path("private_pools"), &misnamed).unwrap();
    assert_eq!(Snapshot::read_file(&misnamed, &Limits::default()).unwrap(), sample("private_pools"));
    let json = folder.path().join("snapshot.pickle");
    sample("private_pools").write_file_as(&json, Format::Json, true).unwrap();
    assert_eq!(Snapshot::read_file(&json, &Limits::default()).unwrap(), sample("private_pools"));
}
