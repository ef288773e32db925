//! The machine, one short program a case. Knows what Python makes of each; the value sits under the
//! key `x` of an otherwise empty snapshot.

use crate::{Error, Limits, Snapshot, Value};

/// Wraps a program that leaves one value into a snapshot.
fn wrapped(program: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x80\x02}(X\x08\x00\x00\x00segments]X\x01\x00\x00\x00x".to_vec();
    bytes.extend(program);
    bytes.extend(b"u.");
    bytes
}

fn repr(value: &Value) -> String {
    let list = |items: &[Value]| items.iter().map(repr).collect::<Vec<_>>().join(", ");
    match value {
        Value::None => "None".into(),
        Value::Bool(value) => if *value { "True" } else { "False" }.into(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::Str(text) => format!("'{text}'"),
        Value::List(items) => format!("[{}]", list(items)),
        Value::Tuple(items) if items.len() == 1 => format!("({},)", list(items)),
        Value::Tuple(items) => format!("({})", list(items)),
        Value::Dict(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| format!("{}: {}", repr(key), repr(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

fn outcome(bytes: &[u8]) -> String {
    match Snapshot::read_slice(bytes, &Limits::default()) {
        Ok(snapshot) => snapshot.extra("x").map_or_else(|| "(no x)".into(), repr),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn check(program: &[u8], expected: &str) {
    assert_eq!(outcome(&wrapped(program)), expected);
}

/// A pickle that is not wrapped.
#[track_caller]
fn check_raw(bytes: &[u8], expected: &str) {
    assert_eq!(outcome(bytes), expected);
}

#[test]
fn scalars() {
    check(b"N", "None");
    check(b"\x88", "True");
    check(b"\x89", "False");
    check(b"K\xff", "255");
    check(b"M\xff\xff", "65535");
    check(b"J\xff\xff\xff\xff", "-1");
    check(b"G\x3f\xf8\0\0\0\0\0\0", "1.5");
    check(b"G\x7f\xf0\0\0\0\0\0\0", "inf");
    check(b"\x8c\x02\xc3\xa9", "'é'");
    check(b"X\x00\x00\x00\x00", "''");
    check(b"\x8d\x01\0\0\0\0\0\0\0y", "'y'");
}

#[test]
fn long_integers() {
    check(b"\x8a\x00", "0");
    check(b"\x8a\x01\xff", "-1");
    check(b"\x8a\x08\0\0\0\0\0\0\0\x80", "-9223372036854775808");
    check(b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", "9223372036854775807");
    check(b"\x8a\x09\0\0\0\0\0\0\0\x80\0", "9223372036854775808");
    check(b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0", "18446744073709551615");
    check(b"\x8b\x02\0\0\0\x00\x01", "256");
    // Not minimal, as Python accepts it.
    check(b"\x8a\x0c\x05\0\0\0\0\0\0\0\0\0\0\0", "5");
    check(b"\x8a\x09\0\0\0\0\0\0\0\0\x01", "LONG1 at byte 24 holds an integer of 9 bytes, outside 64 bits");
    check(
        b"\x8a\x11\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        "LONG1 at byte 24 holds an integer of 17 bytes, outside 64 bits",
    );
    // Around the 61 bits that fit a packed value.
    check(b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x0f", "1152921504606846975");
    check(b"\x8a\x08\0\0\0\0\0\0\0\x10", "1152921504606846976");
    check(b"\x8a\x08\0\0\0\0\0\0\0\xf0", "-1152921504606846976");
    check(b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\xef", "-1152921504606846977");
}

#[test]
fn containers() {
    check(b"]", "[]");
    check(b")", "()");
    check(b"}", "{}");
    check(b"]K\x01a", "[1]");
    check(b"](K\x01K\x02e", "[1, 2]");
    check(b"](e", "[]");
    check(b"(K\x01K\x02l", "[1, 2]");
    check(b"K\x01\x85", "(1,)");
    check(b"K\x01K\x02\x86", "(1, 2)");
    check(b"K\x01N\x86", "(1, None)");
    check(b"K\x01K\x02K\x03\x87", "(1, 2, 3)");
    check(b"(K\x01K\x02K\x03K\x04t", "(1, 2, 3, 4)");
    check(b"(K\x01K\x02t", "(1, 2)");
    check(b"(t", "()");
    check(b"}K\x01K\x02s", "{1: 2}");
    check(b"}(K\x01K\x02NK\x03u", "{1: 2, None: 3}");
    check(b"(K\x01K\x02d", "{1: 2}");
    check(b"}K\x01K\x02\x86Ns", "{(1, 2): None}");
}

#[test]
fn repeated_keys_keep_their_place_and_take_the_last_value() {
    check(b"}(K\x01K\x02K\x05K\x06K\x01K\x03u", "{1: 3, 5: 6}");
    check(b"}(X\x01\0\0\0aK\x01u(X\x01\0\0\0aK\x02u", "{'a': 2}");
}

#[test]
fn containers_that_grow_in_turns_stay_apart() {
    // a = []; b = []; then a gets 1, b gets 2, a gets 3, b gets 4; x = (a, b, a)
    let program = b"]q\x00]q\x01h\x00K\x01a0h\x01K\x02a0h\x00K\x03a0h\x01K\x04a0\x86h\x00\x86";
    check(program, "(([1, 3], [2, 4]), [1, 3])");
}

#[test]
fn memo() {
    // MEMOIZE counts what is stored, whatever the indices.
    check(b"K\x07\x94h\x00\x86", "(7, 7)");
    check(b"K\x07q\x05h\x05\x86", "(7, 7)");
    check(b"K\x07r\xff\xff\xff\xffj\xff\xff\xff\xff\x86", "(7, 7)");
    check(b"K\x07q\x05K\x08\x94h\x01\x87", "(7, 8, 8)");
    check(b"h\x03", "BINGET at byte 24 refers to object 3, which was not stored");
    check(b"K\x07q\x05h\x04", "BINGET at byte 28 refers to object 4, which was not stored");
    check(b"j\xff\xff\xff\xff", "LONG_BINGET at byte 24 refers to object 4294967295, which was not stored");
}

#[test]
fn memo_indices_far_apart_stay_apart() {
    // 600 is kept aside until 0..=599 are there.
    let mut program = b"]q\x00(K\x07r\x58\x02\x00\x00".to_vec();
    for index in 1..700_u32 {
        if index != 600 {
            program.extend(b"K\x01r");
            program.extend(index.to_le_bytes());
        }
    }
    program.extend(b"1j\x58\x02\x00\x00\x86");
    check(&program, "([], 7)");
}

#[test]
fn stack_operations() {
    check(b"K\x01K\x020", "1");
    check(b"K\x01(K\x02K\x031", "1");
    check(b"K\x01(0", "1");
    check(b"K\x012\x86", "(1, 1)");
    check(b"(K\x022\x86l", "[(2, 2)]");
    check(b"0000000", "POP at byte 29 finds too few operands");
    check(b"1", "SETITEMS at byte 25 finds no mark");
}

#[test]
fn dicts_that_look_like_records_are_values_under_unknown_keys() {
    let entry = b"}(X\x06\0\0\0actionX\x05\0\0\0allocX\x04\0\0\0addrK\x07X\x07\0\0\0pool_idK\0K\0\x86X\x06\0\0\0frames]u";
    check(entry, "{'action': 'alloc', 'addr': 7, 'pool_id': (0, 0), 'frames': []}");
    let block = b"}(X\x05\0\0\0stateX\x01\0\0\0sX\x04\0\0\0sizeK\x07u";
    check(block, "{'state': 's', 'size': 7}");
    // A key set later, and one replaced.
    let mut more = entry.to_vec();
    more.extend(b"X\x01\0\0\0yK\x01sX\x04\0\0\0addrNs");
    check(&more, "{'action': 'alloc', 'addr': None, 'pool_id': (0, 0), 'frames': [], 'y': 1}");
}

#[test]
fn malformed_programs() {
    check(b"K\x01K\x02a", "APPEND at byte 28 wants a list, found int");
    check(b"}K\x01a", "APPEND at byte 27 wants a list, found dict");
    check(b"]K\x01K\x02s", "SETITEM at byte 29 wants a dict, found list");
    check(b"}(K\x01u", "SETITEMS at byte 28 finds too few operands");
    check(b"}(]K\x01u", "SETITEMS at byte 29 wants a hashable key, found list");
    check(b"}(}K\x01u", "SETITEMS at byte 29 wants a hashable key, found dict");
    check(b"(a", "APPEND at byte 25 finds too few operands");
    check(b"(\x86", "TUPLE2 at byte 25 finds too few operands");
    check(b"\x8c\x01\xff", "SHORT_BINUNICODE at byte 24 holds a string that is not utf-8");
    check(b"X\x03\0\0\0\xed\xa0\x80", "BINUNICODE at byte 24 holds a string that is not utf-8");
    check(b"\xff", "unknown pickle opcode 0xff at byte 24");
    check_raw(b"\x80\x02e", "APPENDS at byte 2 finds no mark");
    check_raw(b"\x80\x02.", "STOP at byte 2 finds too few operands");
    check_raw(b"\x80\x01", "pickle protocol 1 is not supported (2 to 5 are)");
    check_raw(b"\x80\x06", "pickle protocol 6 is not supported (2 to 5 are)");
    check_raw(b"\x80\x02", "truncated pickle: STOP at byte 2 needs 1 bytes, 0 left");
    check_raw(b"\x80", "truncated pickle: PROTO at byte 0 needs 1 bytes, 0 left");
}

#[test]
fn lengths_are_not_believed() {
    let huge = (1_u64 << 60).to_le_bytes();
    let with = |opcode: u8| [&[0x80, 4, opcode], huge.as_slice()].concat();
    check_raw(&with(0x95), "truncated pickle: FRAME at byte 2 needs 1152921504606846976 bytes, 0 left");
    check_raw(&with(0x8d), "truncated pickle: BINUNICODE8 at byte 2 needs 1152921504606846976 bytes, 0 left");
    check_raw(
        b"\x80\x02X\xff\xff\xff\xff",
        "truncated pickle: BINUNICODE at byte 2 needs 4294967295 bytes, 0 left",
    );
    check_raw(
        b"\x80\x02\x8b\xff\xff\xff\x7f",
        "truncated pickle: LONG4 at byte 2 needs 2147483647 bytes, 0 left",
    );
}

#[test]
fn not_a_snapshot() {
    check_raw(b"\x80\x02N.", "not a memory snapshot: expected a dict or a list of segments, found None");
    check_raw(b"\x80\x02).", "not a memory snapshot: expected a dict or a list of segments, found tuple");
    check_raw(b"\x80\x02}.", "snapshot has no key `segments`");
    check_raw(b"\x80\x02](K\x01e.", "segment: `*` should be dict, found int");
    check_raw(b"\x80\x02}K\x01Ns.", "snapshot: `*` should be str as a key, found int");
    check_raw(b"\x80\x02}X\x08\0\0\0segmentsK\x01s.", "snapshot: `segments` should be a list, found int");
    check_raw(b"\x80\x02]}X\x07\0\0\0addressX\x01\0\0\0ysa.", "segment: `address` should be int, found str");
    check_raw(
        b"\x80\x02]}X\x06\0\0\0framesK\x01sa.",
        "segment: `frames` should be a list of frames, found int",
    );
    check_raw(b"\x80\x02]}X\x06\0\0\0blocks]Nasa.", "block: `*` should be dict, found None");
}

#[test]
fn cycles_are_refused() {
    check(b"]q\x00h\x00a", "a container contains itself");
    check(b"}q\x00K\x01h\x00s", "a container contains itself");
    check(b"]q\x00](h\x00ea0h\x00(h\x00e", "a container contains itself");
    check(b"]q\x00h\x00\x85a", "a container contains itself");
}

#[test]
fn shared_values_stay_one_object() {
    let bytes = wrapped(b"]q\x00(K\x01K\x02e(h\x00h\x00l\x86");
    let snapshot = Snapshot::read_slice(&bytes, &Limits::default()).unwrap();
    let Some(Value::Tuple(pair)) = snapshot.extra("x") else { panic!("a pair") };
    let (Value::List(first), Value::List(others)) = (&pair[0], &pair[1]) else { panic!("two lists") };
    let Value::List(second) = &others[0] else { panic!("a list") };
    assert!(std::sync::Arc::ptr_eq(first, second));
}

#[test]
fn refused_opcodes_are_named() {
    let mut report = String::new();
    for byte in 0..=u8::MAX {
        if let Err(Error::RefusedOpcode { opcode, offset }) =
            Snapshot::read_slice(&wrapped(&[byte]), &Limits::default())
        {
            assert_eq!(offset, 24);
            report += opcode;
            report += " ";
        }
    }
    insta::assert_snapshot!(report.trim_end().replace(' ', "\n"));
}
