//! The model on its own: sizes of records, the canonical order, equality across tables.

use super::*;
use crate::Limits;

#[test]
fn records_are_compact() {
    assert_eq!(size_of::<TraceEntry>(), 88);
    assert_eq!(size_of::<Block>(), 48);
    assert_eq!(size_of::<FrameRecord>(), 40);
    assert_eq!(size_of::<Option<StackId>>(), 4);
}

#[test]
fn fixed_texts_have_the_numbers_that_the_constants_say() {
    let stacks = StackTable::new();
    assert_eq!(stacks.n_texts(), FIXED_TEXTS.len(), "no text twice");
    for (index, text) in FIXED_TEXTS.iter().enumerate() {
        assert_eq!(stacks.find_text(text).map(StrId::index), Some(index), "{text}");
    }
    assert_eq!(stacks.text(Key::Action.id()), "action");
    assert_eq!(stacks.text(Key::TraceId.id()), "trace_id");
    assert_eq!(stacks.stack(StackId::EMPTY), []);
    assert_eq!(stacks.pool(PoolId::DEFAULT), (0, 0));
}

#[test]
fn an_appended_stack_has_a_number_of_its_own() {
    let mut stacks = StackTable::new();
    let frames = [stacks.intern_frame("step", "train.py", 1), stacks.intern_frame("main", "train.py", 2)];
    let numbers = [&frames[..], &frames[..1], &frames[..], &[]].map(|frames| stacks.append_stack(frames));
    assert_eq!(numbers.map(StackId::index), [1, 2, 3, 4]);
    assert_eq!(numbers.map(|number| stacks.stack(number).len()), [2, 1, 2, 0]);
    // Looking up finds the first, also behind appended ones.
    assert_eq!(stacks.intern_stack(&frames), numbers[0]);
    assert_eq!(stacks.intern_stack(&[]), StackId::EMPTY);
    assert_eq!(stacks.intern_stack(&frames[1..]).index(), 5);
    assert_eq!((numbers[2], stacks.n_stacks()), (StackId::from_index(3), 6));
}

#[test]
fn actions_have_names_and_codes() {
    let stacks = StackTable::new();
    let names: Vec<_> = Action::ALL.iter().map(|action| action.name(&stacks)).collect();
    assert_eq!(
        names,
        [
            "alloc",
            "free_requested",
            "free_completed",
            "segment_alloc",
            "segment_free",
            "segment_map",
            "segment_unmap",
            "oom",
            "snapshot",
            "annotate"
        ]
    );
    for (code, action) in Action::ALL.into_iter().enumerate() {
        assert_eq!(action.code().map(usize::from), Some(code));
        assert_eq!(Action::from_name(action.name(&stacks)), Some(action));
        assert_eq!(Action::from_text_id(action.text_id()), action);
    }
    assert_eq!(Action::Other(Key::Action.id()).code(), None);
}

#[test]
fn block_states_have_names() {
    let mut stacks = StackTable::new();
    let name = |state: BlockState| state.name(&stacks).to_owned();
    assert_eq!(name(BlockState::ActiveAllocated), "active_allocated");
    assert_eq!(name(BlockState::ActivePendingFree), "active_pending_free");
    assert_eq!(name(BlockState::Inactive), "inactive");
    let strange = stacks.intern_text("strange");
    assert_eq!(Block::new(0, 1, BlockState::Other(strange)).state(), Some(BlockState::Other(strange)));
}

#[test]
fn integers_cover_both_signs_of_64_bits() {
    let mut entry = TraceEntry::new(Action::Alloc);
    for value in [0, 1, -1, i128::from(i64::MIN), i128::from(i64::MAX) + 1, i128::from(u64::MAX)] {
        assert!(entry.core_mut().set_int(0, Some(value)));
        assert_eq!(entry.core().int(0), Some(value));
    }
    assert!(!entry.core_mut().set_int(0, Some(i128::from(u64::MAX) + 1)));
    assert!(!entry.core_mut().set_int(0, Some(i128::from(i64::MIN) - 1)));
    assert!(entry.core_mut().set_int(0, Some(-4096)));
    assert_eq!(entry.addr(), Some(0xffff_ffff_ffff_f000), "as C++ meant it");
    assert!(entry.core_mut().set_int(0, None));
    assert_eq!(entry, TraceEntry::new(Action::Alloc));
}

#[track_caller]
fn check_order(keys: &[(Key, bool)], is_canonical: bool) {
    let mut tracker = KeyTracker::default();
    for &(key, is_extra) in keys {
        tracker.push(key.id(), is_extra).unwrap();
    }
    assert_eq!(tracker.finish(&mut StackTable::new()).is_none(), is_canonical);
}

#[test]
fn the_order_of_keys_is_noted_only_when_it_is_unusual() {
    check_order(&[], true);
    check_order(&[(Key::Action, false), (Key::Addr, false), (Key::Frames, false)], true);
    check_order(&[(Key::Addr, false), (Key::Action, false)], false);
    check_order(&[(Key::Frames, false), (Key::Blocks, false)], true);
    check_order(&[(Key::Blocks, false), (Key::Frames, false)], false);
    // Unknown keys belong behind the known ones, in any order.
    check_order(&[(Key::Action, false), (Key::TraceId, true), (Key::Name, true)], true);
    check_order(&[(Key::Name, true), (Key::TraceId, false)], false);
    // A key that comes again keeps its place.
    check_order(&[(Key::Action, false), (Key::Addr, false), (Key::Action, false)], true);
}

/// Two snapshots with the same content whose tables were filled in opposite order.
fn twins() -> (Snapshot, Snapshot) {
    let build = |is_reversed: bool| {
        let mut snapshot = Snapshot::new();
        let stacks = snapshot.stacks_mut();
        let mut names = ["f", "g", "h"];
        if is_reversed {
            names.reverse();
            stacks.intern_text("unused");
        }
        for name in names {
            let frame = stacks.intern_frame(name, "file.py", 1);
            stacks.intern_stack(&[frame]);
        }
        let pool = stacks.intern_pool(0, if is_reversed { 9 } else { 8 });
        assert_ne!(pool, PoolId::DEFAULT);
        let (f, h) = (stacks.intern_frame("f", "file.py", 1), stacks.intern_frame("h", "file.py", 1));
        let stack = stacks.intern_stack(&[f, h]);
        let text = stacks.intern_text("step 7");
        let pool = stacks.intern_pool(3, 0);
        let entry = TraceEntry::new(Action::Alloc).with_stack(stack).with_user_metadata(text).with_pool(pool);
        snapshot.push_entry(0, entry);
        snapshot
    };
    (build(false), build(true))
}

#[test]
fn equality_does_not_depend_on_numbers() {
    let (first, second) = twins();
    assert_ne!(first.trace(0)[0], second.trace(0)[0], "the numbers differ");
    assert_eq!(first, second);
    assert_eq!(first.to_pickle().unwrap(), second.to_pickle().unwrap());
}

#[test]
fn equality_sees_every_difference() {
    let (original, _) = twins();
    let check = |change: &dyn Fn(&mut Snapshot)| {
        let mut changed = original.clone();
        change(&mut changed);
        assert_ne!(changed, original);
        assert_ne!(original, changed);
    };
    check(&|snapshot| snapshot.push_entry(0, TraceEntry::new(Action::Oom)));
    check(&|snapshot| snapshot.set_n_devices(2));
    check(&|snapshot| snapshot.host_traces = None);
    check(&|snapshot| snapshot.set_extra("x", Value::None));
    check(&|snapshot| snapshot.set_setting("x", Value::None));
    check(&|snapshot| snapshot.set_form(SnapshotForm::SegmentList));
    check(&|snapshot| snapshot.segments.push(Segment::default()));
    check(&|snapshot| {
        let frame = snapshot.stacks_mut().intern_frame("new", "file.py", 1);
        let stack = snapshot.stacks_mut().intern_stack(&[frame]);
        let traces = snapshot.device_traces.as_mut().unwrap();
        traces[0][0] = traces[0][0].with_stack(stack);
    });
}

#[test]
fn importing_an_entry_carries_all_it_refers_to() {
    let (source, _) = twins();
    let mut target = Snapshot::new();
    let entry = StackImporter::new().import_entry(source.stacks(), &source.trace(0)[0], target.stacks_mut());
    target.push_entry(0, entry);
    assert_eq!(target, source);
    assert_eq!(target.stacks().n_frames(), 2, "only what is used");
}

#[test]
fn numbers_of_another_table_are_harmless() {
    let (other, _) = twins();
    let mut snapshot = Snapshot::new();
    snapshot.push_entry(0, other.trace(0)[0]);
    let pickle = snapshot.to_pickle().unwrap();
    assert!(Snapshot::read_slice(&pickle, &Limits::default()).is_ok());
    let json = snapshot.to_json().unwrap();
    assert!(Snapshot::read_slice(&json, &Limits::default()).is_ok());
}

#[test]
fn extras_of_the_project() {
    let mut snapshot = Snapshot::new();
    assert_eq!((snapshot.dropped_entries(), snapshot.config_hash()), (0, None));
    snapshot.add_dropped_entries(3);
    snapshot.add_dropped_entries(4);
    snapshot.set_config_hash(u64::MAX);
    snapshot.set_setting(keys::CONFIG_HASH, Value::from(u64::MAX - 1));
    let back = Snapshot::read_slice(&snapshot.to_pickle().unwrap(), &Limits::default()).unwrap();
    assert_eq!((back.dropped_entries(), back.config_hash()), (7, Some(u64::MAX - 1)));
}
