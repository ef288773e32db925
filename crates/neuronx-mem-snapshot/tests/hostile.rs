//! Hostile input: every case must end in a typed error or a sound snapshot, within its budget.
#![expect(clippy::unwrap_used, reason = "a panic is the report")]

mod common;

use common::sample_bytes;
use neuronx_mem_snapshot::{Error, Format, LimitKind, Limits, Snapshot};
use proptest::prelude::*;

fn read(bytes: &[u8]) -> Result<Snapshot, Error> {
    Snapshot::read_slice(bytes, &Limits::default())
}

#[track_caller]
fn check_limit(bytes: &[u8], expected: LimitKind) {
    match read(bytes) {
        Err(Error::LimitExceeded { kind, .. }) => assert_eq!(kind, expected),
        other => panic!("expected a limit on {expected}, got {other:?}"),
    }
}

/// `{"segments": [], "x": <program>}`.
fn wrapped(program: &[u8]) -> Vec<u8> {
    [b"\x80\x02}(X\x08\x00\x00\x00segments]X\x01\x00\x00\x00x", program, b"u."].concat()
}

#[test]
fn every_prefix_of_a_sample_is_an_error() {
    let bytes = sample_bytes("private_pools");
    for length in 0..bytes.len() {
        let error = read(&bytes[..length]).unwrap_err();
        assert!(error.is_truncated() || length == 0, "{length}: {error}");
    }
}

#[test]
fn prefixes_of_all_samples_are_errors() {
    for name in common::SAMPLES {
        let bytes = sample_bytes(name);
        for length in (1..bytes.len()).step_by(bytes.len() / 60 + 1) {
            assert!(read(&bytes[..length]).unwrap_err().is_truncated(), "{name} {length}");
        }
    }
}

#[test]
fn every_prefix_of_json_is_an_error() {
    let json = common::sample("private_pools").to_json().unwrap();
    for length in (0..json.len()).step_by(7) {
        assert!(read(&json[..length]).is_err(), "{length}");
    }
}

#[test]
fn every_flipped_byte_ends_well() {
    let mut bytes = sample_bytes("private_pools");
    for position in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            bytes[position] ^= flip;
            if let Ok(snapshot) = read(&bytes) {
                let again = read(&snapshot.to_pickle().unwrap()).unwrap();
                assert_eq!(again, snapshot, "{position} {flip}");
            }
            bytes[position] ^= flip;
        }
    }
}

#[test]
fn code_is_refused() {
    let error = read(b"\x80\x02cos\nsystem\n(X\x02\0\0\0lstR.").unwrap_err();
    assert!(matches!(error, Error::RefusedOpcode { offset: 2, opcode: "GLOBAL" }), "{error}");
    let error = read(b"\x80\x04\x8c\x02os\x8c\x06system\x93.").unwrap_err();
    assert!(matches!(error, Error::RefusedOpcode { offset: 14, opcode: "STACK_GLOBAL" }), "{error}");
}

#[test]
fn nesting_of_100_000_stops_at_the_limit() {
    let n = 100_000;
    let lists = [b"]".repeat(n), b"a".repeat(n - 1)].concat();
    check_limit(&[b"\x80\x02", lists.as_slice(), b"."].concat(), LimitKind::Depth);
    check_limit(&wrapped(&lists), LimitKind::Depth);
    let tuples = [b"K\x01".to_vec(), b"\x85".repeat(n)].concat();
    check_limit(&wrapped(&tuples), LimitKind::Depth);
    let dicts = [b"}K\x01".repeat(n), b"N".to_vec(), b"s".repeat(n)].concat();
    check_limit(&wrapped(&dicts), LimitKind::Depth);
    let marks = [b"(".repeat(n), b"l".repeat(n)].concat();
    check_limit(&wrapped(&marks), LimitKind::Depth);
    // Open marks alone.
    assert!(read(&wrapped(&b"(".repeat(n))).is_err());
}

#[test]
fn json_nesting_of_100_000_stops_at_the_limit() {
    let n = 100_000;
    assert!(matches!(read("[".repeat(n).as_bytes()), Err(Error::Json { .. })));
    let nested = format!("{{\"segments\":[],\"x\":{}{}}}", "[".repeat(n), "]".repeat(n));
    check_limit(nested.as_bytes(), LimitKind::Depth);
    let nested = format!("{{\"segments\":[],\"x\":{}1{}}}", "{\"a\":".repeat(n), "}".repeat(n));
    check_limit(nested.as_bytes(), LimitKind::Depth);
}

/// Lists that hold the one before twice: 2^n values if sharing were expanded.
fn doubling(n: usize) -> Vec<u8> {
    let mut program = b"]q\x00".to_vec();
    for level in 1..=n {
        let before = u8::try_from(level - 1).unwrap();
        program.extend([b'(', b'h', before, b'h', before, b'l', b'q', before + 1]);
    }
    // Leave only the last one: x = (.., last) would be deep in the stack, so drop the others.
    let mut whole = b"]q\xff(".to_vec();
    whole.extend(&program);
    whole.extend(b"1h");
    whole.push(u8::try_from(n).unwrap());
    whole.extend(b"\x86");
    whole
}

#[test]
fn sharing_is_not_expanded() {
    let snapshot = read(&wrapped(&doubling(18))).unwrap();
    assert!(snapshot.extra("x").is_some());
    check_limit(&wrapped(&doubling(30)), LimitKind::ExtraValues);
    check_limit(&wrapped(&doubling(60)), LimitKind::ExtraValues);
    check_limit(&wrapped(&doubling(120)), LimitKind::Depth);
}

#[test]
fn a_trace_list_shared_many_times_is_charged() {
    // One trace of 10,000 entries, referred to 100,000 times.
    let mut bytes = b"\x80\x02}(X\x08\0\0\0segments]X\x0d\0\0\0device_traces](]q\x00(".to_vec();
    for _ in 0..10_000 {
        bytes.extend(b"}X\x06\0\0\0actionX\x03\0\0\0oomsN0");
    }
    bytes.extend(b"e");
    bytes.extend(b"h\x00".repeat(100_000));
    bytes.extend(b"eu.");
    check_limit(&bytes, LimitKind::MemoryBytes);
}

#[test]
fn a_shared_stack_costs_nothing_more_but_is_not_spelled_out_in_json() {
    // A stack of 100,000 frames, referred to by 60,000 entries: 6 * 10^9 frames in JSON.
    let mut bytes = b"\x80\x02}(X\x08\0\0\0segments]X\x0d\0\0\0device_traces](](".to_vec();
    bytes.extend(b"}(X\x06\0\0\0actionq\x00X\x05\0\0\0allocq\x01X\x06\0\0\0framesq\x02]q\x03(");
    bytes.extend(b"}(X\x04\0\0\0nameX\x01\0\0\0fX\x08\0\0\0filenameX\x01\0\0\0gX\x04\0\0\0lineK\x01uq\x04");
    bytes.extend(b"h\x04".repeat(99_999));
    bytes.extend(b"eu");
    bytes.extend(b"}(h\x00h\x01h\x02h\x03u".repeat(59_999));
    bytes.extend(b"eeu.");
    let snapshot = read(&bytes).unwrap();
    assert_eq!(snapshot.trace(0).len(), 60_000);
    assert_eq!(snapshot.stacks().n_frames(), 1);
    assert_eq!(snapshot.stacks().n_stacks(), 2);
    assert!(snapshot.to_pickle().unwrap().len() < bytes.len() * 2);
    let refused = snapshot.to_json();
    assert!(matches!(refused, Err(Error::LimitExceeded { kind: LimitKind::InlineFrames, .. })));
}

#[test]
fn cheap_bytes_do_not_buy_much_memory() {
    let n = 10_000_000;
    for (program, expected) in [
        ("]", LimitKind::MemoryBytes),
        ("}", LimitKind::MemoryBytes),
        ("(", LimitKind::MemoryBytes),
        ("]\u{94}", LimitKind::MemoryBytes),
    ] {
        let bytes: Vec<u8> = program.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        let body: Vec<u8> = bytes.iter().copied().cycle().take(n).collect();
        check_limit(&wrapped(&body), expected);
    }
}

#[test]
fn limits_are_checked() {
    let bytes = sample_bytes("private_pools");
    let with = |change: &dyn Fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        match Snapshot::read_slice(&bytes, &limits) {
            Err(Error::LimitExceeded { kind, .. }) => Some(kind),
            _ => None,
        }
    };
    assert_eq!(with(&|_| {}), None);
    assert_eq!(with(&|limits| limits.max_input_bytes = 6000), Some(LimitKind::InputBytes));
    assert_eq!(with(&|limits| limits.max_memory_bytes = 10_000), Some(LimitKind::MemoryBytes));
    assert_eq!(with(&|limits| limits.max_items = 100), Some(LimitKind::Items));
    assert_eq!(with(&|limits| limits.max_depth = 6), Some(LimitKind::Depth));
    assert_eq!(with(&|limits| limits.max_depth = 7), None);
    assert_eq!(with(&|limits| limits.max_extra_values = 20), Some(LimitKind::ExtraValues));
}

#[test]
fn too_many_keys_in_a_record() {
    let mut program = b"\x80\x02](}(".to_vec();
    for index in 0..200_u8 {
        program.extend([0x8c, 2, b'k', b'0' + index % 10, b'K', index]);
        program.extend([0x8c, 3, b'z', b'0' + index % 10, b'a' + index / 10, b'K', index]);
    }
    program.extend(b"ue.");
    check_limit(&program, LimitKind::RecordKeys);
}

#[test]
fn unknown_formats() {
    assert!(matches!(read(b""), Err(Error::UnknownFormat { first_byte: None })));
    assert!(matches!(read(b"\x1f\x8b"), Err(Error::UnknownFormat { first_byte: Some(0x1f) })));
    assert!(matches!(Format::detect(Some(b'{')), Ok(Format::Json)));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes);
        let _ = read(&[&[0x80, 4], bytes.as_slice()].concat());
        let _ = read(&wrapped(&bytes));
    }

    /// Programs of allowed opcodes get further than random bytes.
    #[test]
    fn random_programs_never_panic(ops in prop::collection::vec(
        prop::sample::select(b"](){}\x85\x86\x87\x88\x89\x94aestuld012N".as_slice()), 0..300)
    ) {
        let _ = read(&[&[0x80, 4], ops.as_slice(), b"."].concat());
        if let Ok(snapshot) = read(&wrapped(&ops)) {
            let pickled = snapshot.to_pickle().unwrap();
            prop_assert_eq!(read(&pickled).unwrap(), snapshot);
        }
    }

    #[test]
    fn random_json_never_panics(text in "[\\[\\]{}:,\"a-z0-9. -]{0,200}") {
        let _ = read(text.as_bytes());
        let _ = read(format!("{{\"segments\":[],\"x\":{text}}}").as_bytes());
    }
}
