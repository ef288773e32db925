//! The recorder: ring, options, stacks and texts. No clock: every time is given.

use super::metadata::MetadataTable;
use super::ring::Ring;
use super::*;
use crate::{Action, Error, Limits, Snapshot, StackId, StackTable};

fn on(max_entries: usize) -> History {
    let mut history = History::new();
    history.configure(&RecordOptions::builder().max_entries(max_entries).build());
    history
}

fn alloc(addr: u64) -> Event<'static> {
    Event::new(Action::Alloc, addr * 10).with_addr(addr).with_size_bytes(512)
}

fn addrs(history: &History) -> Vec<u64> {
    history.entries().filter_map(|entry| entry.addr()).collect()
}

/// Adds an item and gives back the one that had to go.
fn push(ring: &mut Ring<u32>, item: u32) -> Option<u32> {
    let mut dropped = None;
    match ring.next_place(|oldest| dropped = Some(*oldest)) {
        Some(place) => *place = item,
        None => dropped = Some(item),
    }
    dropped
}

#[track_caller]
fn check_ring(max_items: usize, n_pushed: u32, expected: &[u32]) {
    let mut ring = Ring::new(max_items);
    let dropped: Vec<u32> = (1..=n_pushed).filter_map(|item| push(&mut ring, item)).collect();
    assert_eq!(ring.iter().copied().collect::<Vec<_>>(), expected);
    let all: Vec<u32> = dropped.into_iter().chain(ring.iter().copied()).collect();
    assert_eq!(all, (1..=n_pushed).collect::<Vec<_>>(), "nothing is lost or doubled");
}

#[test]
fn ring_wraps() {
    check_ring(3, 0, &[]);
    check_ring(3, 2, &[1, 2]);
    check_ring(3, 3, &[1, 2, 3]);
    check_ring(3, 4, &[2, 3, 4]);
    check_ring(3, 6, &[4, 5, 6]);
    check_ring(3, 8, &[6, 7, 8]);
    check_ring(1, 5, &[5]);
    check_ring(0, 5, &[]);
    check_ring(usize::MAX, 5, &[1, 2, 3, 4, 5]);
}

#[test]
fn ring_keeps_its_order_when_the_bound_changes() {
    let mut ring = Ring::new(4);
    for item in 1..=6 {
        push(&mut ring, item);
    }
    assert_eq!(ring.set_max_items(3), [3]);
    assert_eq!(push(&mut ring, 7), Some(4));
    assert!(ring.set_max_items(5).is_empty());
    assert_eq!((push(&mut ring, 8), push(&mut ring, 9)), (None, None));
    assert_eq!(push(&mut ring, 10), Some(5));
    assert_eq!(ring.iter().copied().collect::<Vec<_>>(), [6, 7, 8, 9, 10]);
}

#[test]
fn off_records_nothing() {
    let mut history = History::new();
    assert_eq!(history.record(&alloc(1)), None);
    assert!(history.is_empty() && !history.is_recording());
    assert!(!history.wants_stack(Action::Alloc));
}

#[test]
fn trace_ids_start_at_one_and_never_go_back() {
    let mut history = on(2);
    let ids: Vec<_> = (1..=5).map(|addr| history.record(&alloc(addr))).collect();
    assert_eq!(ids, [Some(1), Some(2), Some(3), Some(4), Some(5)]);
    assert_eq!(history.entries().map(|entry| entry.trace_id()).collect::<Vec<_>>(), [4, 5]);
    assert_eq!(history.n_dropped(), 3);
    history.clear();
    assert_eq!(history.n_dropped(), 0);
    assert_eq!(history.record(&alloc(6)), Some(6));
    history.configure(&RecordOptions::builder().recording(Recording::Off).build());
    history.configure(&RecordOptions::default());
    assert_eq!(history.record(&alloc(7)), Some(7));
}

#[test]
fn configuring_again_keeps_or_clears() {
    let mut history = on(10);
    for addr in 1..=4 {
        history.record(&alloc(addr));
    }
    history.configure(&RecordOptions::builder().max_entries(3).build());
    assert_eq!((addrs(&history), history.n_dropped()), (vec![2, 3, 4], 1));
    history.configure(&RecordOptions::builder().max_entries(3).clear_history(true).build());
    assert_eq!((addrs(&history), history.n_dropped()), (vec![], 0));
    history.record(&alloc(5));
    history.configure(&RecordOptions::builder().recording(Recording::Off).build());
    assert!(history.is_empty(), "off forgets, as PyTorch does");
}

#[test]
fn the_bound_in_bytes_counts_records() {
    let mut history = History::new();
    history.configure(&RecordOptions::builder().max_bytes(56 * 3 + 55).build());
    for addr in 1..=9 {
        history.record(&alloc(addr));
    }
    assert_eq!(addrs(&history), [7, 8, 9]);
}

#[test]
fn skipped_actions_take_no_id() {
    let mut history = History::new();
    let skip = ActionSet::from_names(&["free_requested", "snapshot"]).unwrap();
    history.configure(&RecordOptions::builder().skip_actions(skip).build());
    assert_eq!(history.record(&Event::new(Action::FreeRequested, 1)), None);
    assert_eq!(history.record(&alloc(1)), Some(1));
    assert_eq!(history.record(&Event::new(Action::Snapshot, 1)), None);
    assert_eq!(history.len(), 1);
}

#[test]
fn state_keeps_no_events_but_wants_stacks_of_blocks() {
    let mut history = History::new();
    history.configure(&RecordOptions::builder().recording(Recording::State).build());
    assert_eq!(history.record(&alloc(1)), None);
    assert!(history.wants_stack(Action::Alloc));
    assert!(!history.wants_stack(Action::FreeRequested));
}

/// Counts how often it was asked.
struct Counting(u32);

impl StackProvider for Counting {
    fn capture(&mut self, stacks: &mut StackTable) -> Option<StackId> {
        self.0 += 1;
        let frame = stacks.intern_frame("f", "f.py", 1);
        Some(stacks.intern_stack(&[frame]))
    }
}

/// Which of alloc, free_requested, oom and snapshot carry a stack, and how many were captured.
#[track_caller]
fn check_context(context: StackContext, expected: [bool; 4], n_captured: u32) {
    let mut history = History::new();
    history.configure(&RecordOptions::builder().context(context).build());
    let mut provider = Counting(0);
    for action in [Action::Alloc, Action::FreeRequested, Action::Oom, Action::Snapshot] {
        history.record_with(&Event::new(action, 1), &mut provider);
    }
    let carried: Vec<_> = history.entries().map(|entry| entry.stack().is_some()).collect();
    assert_eq!(carried, expected);
    assert_eq!(provider.0, n_captured);
}

#[test]
fn context_decides_which_events_carry_stacks() {
    check_context(StackContext::Never, [false, false, false, false], 0);
    // Captured for the block, not for the event.
    check_context(StackContext::State, [false, false, false, false], 2);
    check_context(StackContext::Alloc, [true, false, true, false], 2);
    check_context(StackContext::All, [true, true, true, false], 3);
}

#[test]
fn a_stack_that_is_given_is_left_out_where_it_is_not_wanted() {
    let mut history = History::new();
    history.configure(&RecordOptions::builder().context(StackContext::Alloc).build());
    let stack = Some(StackId::EMPTY);
    history.record(&alloc(1).with_stack(stack));
    history.record(&Event::new(Action::FreeCompleted, 1).with_stack(stack));
    assert_eq!(history.entries().map(|entry| entry.stack()).collect::<Vec<_>>(), [stack, None]);
}

#[test]
fn texts_live_as_long_as_their_events() {
    let mut history = on(3);
    for step in 0..1000 {
        let text = format!("step {}", step / 2);
        history.record(&alloc(step).with_user_metadata(&text));
        assert!(history.metadata.n_texts() <= 3);
    }
    let texts: Vec<_> = history.entries().map(|entry| entry.user_metadata()).collect();
    assert_eq!(texts, ["step 498", "step 499", "step 499"]);
    history.configure(&RecordOptions::builder().max_entries(1).build());
    assert_eq!(history.metadata.n_texts(), 1);
    assert_eq!(history.stacks().n_texts(), StackTable::new().n_texts(), "texts stay out of the stack table");
}

#[test]
fn counted_texts() {
    let mut table = MetadataTable::new();
    let (first, second) = (table.acquire("a"), table.acquire("b"));
    assert_eq!((table.acquire("a"), table.acquire("")), (first, 0));
    table.release(first);
    assert_eq!(table.text(first), "a");
    table.release(first);
    assert_eq!((table.text(first), table.text(second), table.n_texts()), ("", "b", 1));
    table.release(first);
    assert_eq!(table.n_texts(), 1, "a release too many does nothing");
    assert_eq!(table.acquire("c"), first, "the place is used again");
    table.release(0);
    table.release(u32::MAX);
}

#[test]
fn export_makes_entries_in_the_order_of_the_schema() {
    let mut history = on(3);
    let frame = history.stacks_mut().intern_frame("f", "f.py", 1);
    let stack = history.stacks_mut().intern_stack(&[frame]);
    let pool = history.stacks_mut().intern_pool(0, 2);
    history.record(&alloc(1));
    history.record(&alloc(2).with_stream(7).with_stack(Some(stack)).with_pool(pool).with_user_metadata("m"));
    history.record(&Event::new(Action::Oom, 30).with_size_bytes(9).with_device_free_bytes(5));
    history.record(&Event::new(Action::Snapshot, 40).with_size_bytes(1024));
    let mut snapshot = Snapshot::new();
    history.export(&mut snapshot, 1);
    let json = String::from_utf8(snapshot.to_json().unwrap()).unwrap();
    insta::assert_snapshot!(json.replace("},{\"action", "},\n{\"action"));
    let back = Snapshot::read_slice(&snapshot.to_pickle().unwrap(), &Limits::default()).unwrap();
    assert_eq!((back.dropped_entries(), &back), (1, &snapshot));
}

#[test]
fn export_keeps_actions_that_are_only_known_by_name() {
    let mut history = on(3);
    let strange = history.stacks_mut().intern_text("defragment");
    history.record(&Event::new(Action::Other(strange), 1));
    let mut snapshot = Snapshot::new();
    history.export(&mut snapshot, 0);
    assert_eq!(snapshot.trace(0)[0].action().name(snapshot.stacks()), "defragment");
}

#[track_caller]
fn check_options(
    enabled: EnabledArg<'_>,
    context: Option<&str>,
    stacks: &str,
    skip: &[&str],
    expected: &str,
) {
    let options = RecordOptions::from_python_like(enabled, context, stacks, 7, false, skip);
    let outcome =
        options.map(|options| format!("{:?} {:?} {:?}", options.recording, options.context, options.stacks));
    assert_eq!(outcome.unwrap_or_else(|error| error.to_string()), expected);
}

#[test]
fn options_as_pytorch_takes_them() {
    use EnabledArg::{Bool, Name, None as Off};
    check_options(Name("all"), Some("all"), "all", &[], "All All All");
    check_options(Name("state"), Some("state"), "python", &[], "State State Python");
    check_options(Bool(true), Some("alloc"), "python", &["oom", "alloc"], "All Alloc Python");
    check_options(Bool(false), None, "all", &[], "Off Never All");
    check_options(Off, None, "all", &[], "Off Never All");
    check_options(
        Name("al"),
        None,
        "all",
        &[],
        "invalid enabled: expected None, False, True, \"state\" or \"all\", found `al`",
    );
    check_options(
        Off,
        Some("never"),
        "all",
        &[],
        "invalid context: expected None, \"state\", \"alloc\" or \"all\", found `never`",
    );
    check_options(Off, None, "cpp", &[], "invalid stacks: expected \"python\" or \"all\", found `cpp`");
    check_options(Off, None, "all", &["alloc", "malloc"], "Unknown TraceEntry action: malloc");
    assert!(matches!(ActionSet::from_names(&["x"]), Err(Error::UnknownAction { name }) if name == "x"));
}

#[cfg(feature = "backtrace")]
#[test]
fn native_stacks_are_stored_once() {
    let mut stacks = StackTable::new();
    let mut provider = NativeStacks::new();
    let captured: Vec<_> = (0..3).map(|_| provider.capture(&mut stacks).unwrap()).collect();
    assert_eq!(captured[0], captured[1]);
    assert_eq!(captured[1], captured[2]);
    let names: Vec<_> = stacks.frames(captured[0]).map(|frame| frame.name().to_owned()).collect();
    assert!(names.iter().any(|name| name.contains("native_stacks_are_stored_once")), "{names:?}");
}
