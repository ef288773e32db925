//! Any snapshot that can be built comes back equal from both formats.
#![expect(clippy::unwrap_used, reason = "a panic is the report")]

use neuronx_mem_snapshot::{
    Action, Annotation, Block, BlockState, Limits, Segment, Snapshot, SnapshotForm, TraceEntry, Value,
};
use proptest::prelude::*;

/// Values that both formats can hold (JSON has no tuples and no NaN).
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::None),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        ".{0,300}".prop_map(|text| Value::from(text.as_str())),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|items| Value::List(items.into())),
            prop::collection::btree_map("[a-z]{0,3}", inner, 0..6).prop_map(Value::dict),
        ]
    })
}

/// Numbers around every boundary of the formats.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        0..300_u64,
        prop::sample::select(vec![
            255,
            256,
            65_535,
            65_536,
            i32::MAX as u64,
            i32::MAX as u64 + 1,
            u64::from(u32::MAX),
            (1 << 60) - 1,
            1 << 60,
            i64::MAX as u64,
            i64::MAX as u64 + 1,
            u64::MAX,
        ]),
    ]
}

#[derive(Clone, Debug)]
struct EntryParts {
    action: usize,
    numbers: [Option<u64>; 6],
    texts: [Option<u8>; 2],
    stack: Option<Vec<u8>>,
    pool: Option<(u64, u64)>,
}

fn entry_parts() -> impl Strategy<Value = EntryParts> {
    let optional = || prop::option::of(number());
    (
        0..12_usize,
        [optional(), optional(), optional(), optional(), optional(), optional()],
        prop::array::uniform2(prop::option::of(any::<u8>())),
        prop::option::of(prop::collection::vec(0..20_u8, 0..5)),
        prop::option::of((number(), number())),
    )
        .prop_map(|(action, numbers, texts, stack, pool)| EntryParts {
            action,
            numbers,
            texts,
            stack,
            pool,
        })
}

/// Sets one number of an entry.
type Setter = fn(TraceEntry, u64) -> TraceEntry;

fn add_entry(snapshot: &mut Snapshot, device: usize, parts: &EntryParts) {
    let stacks = snapshot.stacks_mut();
    let action = Action::ALL.get(parts.action).copied();
    let action =
        action.unwrap_or_else(|| Action::Other(stacks.intern_text(&format!("action {}", parts.action))));
    let mut entry = TraceEntry::new(action);
    let [addr, size, stream, time, free, id] = parts.numbers;
    let setters: [(Option<u64>, Setter); 6] = [
        (addr, TraceEntry::with_addr),
        (size, TraceEntry::with_size_bytes),
        (stream, TraceEntry::with_stream),
        (time, TraceEntry::with_time_us),
        (free, TraceEntry::with_device_free_bytes),
        (id, TraceEntry::with_trace_id),
    ];
    for (number, set) in setters {
        entry = number.map_or(entry, |number| set(entry, number));
    }
    if let Some(text) = parts.texts[0] {
        entry = entry.with_compile_context(stacks.intern_text(&"c".repeat(usize::from(text) * 3)));
    }
    if let Some(text) = parts.texts[1] {
        entry = entry.with_user_metadata(stacks.intern_text(&format!("step {text}")));
    }
    if let Some(frames) = &parts.stack {
        let frames = frames
            .iter()
            .map(|&line| stacks.intern_frame(&format!("f{}", line % 7), "f.py", u64::from(line)));
        let frames: Vec<_> = frames.collect();
        entry = entry.with_stack(stacks.intern_stack(&frames));
    }
    if let Some((first, second)) = parts.pool {
        entry = entry.with_pool(stacks.intern_pool(first, second));
    }
    snapshot.push_entry(device, entry);
}

fn snapshot() -> impl Strategy<Value = Snapshot> {
    let traces = prop::collection::vec(prop::collection::vec(entry_parts(), 0..30), 0..4);
    let segments =
        prop::collection::vec((number(), prop::collection::vec((number(), 0..4_usize), 0..5)), 0..5);
    let extras = prop::collection::btree_map("[x-z]{1,2}", value(), 0..3);
    (traces, segments, extras, any::<[bool; 4]>()).prop_map(|(traces, segments, extras, present)| {
        let mut snapshot = Snapshot::new();
        for (device, trace) in traces.iter().enumerate() {
            snapshot.set_n_devices(device + 1);
            for parts in trace {
                add_entry(&mut snapshot, device, parts);
            }
        }
        let strange = snapshot.stacks_mut().intern_text("strange");
        let states = [
            BlockState::ActiveAllocated,
            BlockState::ActivePendingFree,
            BlockState::Inactive,
            BlockState::Other(strange),
        ];
        for (address, blocks) in segments {
            let blocks = blocks.into_iter().map(|(size, state)| Block::new(address, size, states[state]));
            snapshot.segments.push(Segment::from_blocks(
                1,
                address,
                size_of_val(&address) == 8,
                blocks.collect(),
            ));
        }
        let annotation = Annotation::new(true, strange, 0, u64::MAX);
        snapshot.external_annotations = present[0].then(|| vec![annotation]);
        snapshot.host_segments = present[1].then(|| snapshot.segments.clone());
        snapshot.host_traces = present[2].then(|| snapshot.trace(0).to_vec());
        if !present[3] {
            snapshot.allocator_settings = None;
        }
        for (key, value) in extras {
            snapshot.set_extra(&key, value);
        }
        snapshot
    })
}

fn read(bytes: &[u8]) -> Snapshot {
    Snapshot::read_slice(bytes, &Limits::default()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pickle(snapshot in snapshot()) {
        let bytes = snapshot.to_pickle().unwrap();
        prop_assert_eq!(read(&bytes), snapshot);
    }

    #[test]
    fn json(snapshot in snapshot()) {
        let bytes = snapshot.to_json().unwrap();
        let from_json = read(&bytes);
        prop_assert_eq!(&from_json, &snapshot);
        prop_assert_eq!(from_json.to_pickle().unwrap(), snapshot.to_pickle().unwrap());
    }

    #[test]
    fn segment_list(mut snapshot in snapshot()) {
        snapshot.set_form(SnapshotForm::SegmentList);
        let from_pickle = read(&snapshot.to_pickle().unwrap());
        let from_json = read(&snapshot.to_json().unwrap());
        prop_assert_eq!(&from_pickle, &from_json);
        prop_assert_eq!(from_pickle.form(), SnapshotForm::SegmentList);
        prop_assert_eq!(from_pickle.segments.len(), snapshot.segments.len());
    }

    /// Key order, unknown keys and None under known keys survive, whatever the order.
    #[test]
    fn key_order(order in Just(vec!["action", "addr", "size", "x", "frames", "y", "stream"]).prop_shuffle()) {
        let value = |key: &str| match key {
            "action" => "\"alloc\"",
            "frames" => "[]",
            "stream" => "null",
            "x" => "{\"b\":1,\"a\":[2]}",
            _ => "18446744073709551615",
        };
        let pairs: Vec<_> = order.iter().map(|key| format!("\"{key}\":{}", value(key))).collect();
        let text = format!("{{\"device_traces\":[[{{{}}}]],\"segments\":[]}}", pairs.join(","));
        let from_json = read(text.as_bytes());
        let from_pickle = read(&from_json.to_pickle().unwrap());
        prop_assert_eq!(&from_pickle, &from_json);
        prop_assert_eq!(String::from_utf8(from_pickle.to_json().unwrap()).unwrap(), text);
    }
}

/// Addresses above 2^63, the reason for LONG1 of nine bytes.
#[test]
fn high_addresses() {
    let mut snapshot = Snapshot::new();
    let block = Block::new(u64::MAX - 511, 512, BlockState::Inactive);
    snapshot.segments.push(Segment::from_blocks(0, u64::MAX - 511, true, vec![block]));
    snapshot.push_entry(0, TraceEntry::new(Action::Alloc).with_addr(1 << 63));
    for bytes in [snapshot.to_pickle().unwrap(), snapshot.to_json().unwrap()] {
        let back = read(&bytes);
        assert_eq!(back.trace(0)[0].addr(), Some(1 << 63));
        assert_eq!(back.segments[0].address(), Some(u64::MAX - 511));
    }
}
