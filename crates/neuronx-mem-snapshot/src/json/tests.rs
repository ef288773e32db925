//! JSON: what is written, and that the same structure comes back.

use crate::{Action, Error, Limits, Snapshot, SnapshotForm, TraceEntry, Value};

fn read(text: &str) -> Result<Snapshot, Error> {
    Snapshot::read_slice(text.as_bytes(), &Limits::default())
}

/// What becomes of a JSON value under an unknown key when it is read and written.
#[track_caller]
fn check_value(input: &str, expected: &str) {
    let snapshot = read(&format!("{{\"segments\":[],\"x\":{input}}}")).unwrap();
    let output = String::from_utf8(snapshot.to_json().unwrap()).unwrap();
    assert_eq!(output, format!("{{\"segments\":[],\"x\":{expected}}}"));
}

#[track_caller]
fn check_error(input: &str, expected: &str) {
    assert_eq!(read(input).unwrap_err().to_string(), expected);
}

#[test]
fn values() {
    check_value("null", "null");
    check_value(" [ true , false ] ", "[true,false]");
    check_value("18446744073709551615", "18446744073709551615");
    check_value("-9223372036854775808", "-9223372036854775808");
    check_value("0.0", "0.0");
    check_value("-0.0", "-0.0");
    check_value("1e300", "1e+300");
    check_value("0.1", "0.1");
    check_value(r#""é\u0000\n\"""#, r#""é\u0000\n\"""#);
    check_value(r#"{"b":1,"a":{},"b":2}"#, r#"{"b":2,"a":{}}"#);
    check_value("[[],{},[[]]]", "[[],{},[[]]]");
}

#[test]
fn a_whole_file() {
    let mut snapshot = Snapshot::new();
    let frame = snapshot.stacks_mut().intern_frame("f", "a\"b.py", 3);
    let stack = snapshot.stacks_mut().intern_stack(&[frame, frame]);
    let block = crate::Block::new(u64::MAX - 511, 512, crate::BlockState::Inactive);
    snapshot.segments.push(crate::Segment::from_blocks(0, u64::MAX - 511, true, vec![block]));
    snapshot.push_entry(0, TraceEntry::new(Action::Alloc).with_addr(u64::MAX).with_stack(stack));
    let text = String::from_utf8(snapshot.to_json().unwrap()).unwrap();
    insta::assert_snapshot!(text.replace(",\"", ",\n\""));
    assert_eq!(read(&text).unwrap(), snapshot);
}

#[test]
fn keys_that_are_no_texts_are_spelled_as_python_does() {
    let mut snapshot = Snapshot::new();
    snapshot.set_form(SnapshotForm::Full);
    let keys = [Value::from(7_i64), Value::from(true), Value::None, Value::from(1.5), Value::from("s")];
    snapshot.allocator_settings = Some(Value::Dict(keys.map(|key| (key, Value::None)).into()));
    let text = String::from_utf8(snapshot.to_json().unwrap()).unwrap();
    assert!(text.contains(r#"{"7":null,"true":null,"null":null,"1.5":null,"s":null}"#), "{text}");
    snapshot.allocator_settings = Some(Value::Dict([(Value::Tuple([].into()), Value::None)].into()));
    assert!(matches!(snapshot.to_json(), Err(Error::NotRepresentable { format: "json", .. })));
}

#[test]
fn what_json_cannot_hold() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut snapshot = Snapshot::new();
        snapshot.set_extra("x", Value::from(value));
        assert!(matches!(snapshot.to_json(), Err(Error::NotRepresentable { format: "json", .. })));
        let back = Snapshot::read_slice(&snapshot.to_pickle().unwrap(), &Limits::default()).unwrap();
        assert_eq!(back, snapshot);
    }
    let mut snapshot = Snapshot::new();
    snapshot.set_extra("x", Value::Int(i128::from(u64::MAX) + 1));
    assert!(matches!(snapshot.to_json(), Err(Error::NotRepresentable { .. })));
    assert!(matches!(snapshot.to_pickle(), Err(Error::NotRepresentable { .. })));
}

#[test]
fn a_value_that_nests_too_deep_is_not_written() {
    let mut value = Value::None;
    for _ in 0..200 {
        value = Value::List([value].into());
    }
    let mut snapshot = Snapshot::new();
    snapshot.set_extra("x", value);
    assert!(snapshot.to_json().unwrap_err().is_limit());
    assert!(snapshot.to_pickle().unwrap_err().is_limit());
}

#[test]
fn bare_list_and_null() {
    let bare = read("[{\"address\":1,\"blocks\":[]}]").unwrap();
    assert_eq!(bare.form(), SnapshotForm::SegmentList);
    assert_eq!(bare.to_json().unwrap(), b"[{\"address\":1,\"blocks\":[]}]");
    let text = r#"{"host_traces":null,"segments":[{"stream":null,"address":1}],"allocator_settings":null}"#;
    let nulls = read(text).unwrap();
    assert_eq!(nulls.host_traces, None);
    assert_eq!(String::from_utf8(nulls.to_json().unwrap()).unwrap(), text);
    let pickled = Snapshot::read_slice(&nulls.to_pickle().unwrap(), &Limits::default()).unwrap();
    assert_eq!(pickled, nulls);
}

#[test]
fn errors() {
    check_error("{}", "snapshot has no key `segments`");
    check_error("{\"segments\":null}", "snapshot has no key `segments`");
    check_error(
        "[1]",
        "malformed json at line 1, column 2: invalid type: integer `1`, expected a segment dict at line 1 column 2",
    );
    check_error("{\"segments\":[{\"address\":1.5}]}", "segment: `address` should be int, found float");
    check_error("{\"segments\":[{\"stream\":\"0\"}]}", "segment: `stream` should be int, found str");
    check_error(
        "{\"segments\":[{\"segment_type\":[]}]}",
        "segment: `segment_type` should be str, found list",
    );
    check_error(
        "{\"segments\":[{\"frames\":{}}]}",
        "segment: `frames` should be a list of frames, found dict",
    );
    check_error(
        "{\"segments\":[{\"segment_pool_id\":[1]}]}",
        "segment: `segment_pool_id` should be a pair of ints, found list",
    );
    check_error(
        "{\"segments\":[{\"is_expandable\":0}]}",
        "segment: `is_expandable` should be bool, found int",
    );
    check_error("{\"segments\":[],\"device_traces\":[[{}]]}", "trace entry has no key `action`");
    check_error(
        "{\"segments\":[]} x",
        "malformed json at line 1, column 17: trailing characters at line 1 column 17",
    );
}

#[test]
fn repeated_keys_keep_their_first_place_in_both_formats() {
    // Found by fuzzing: the order of the keys was that of the last values, or of what they were before.
    let dict =
        |keys: &str| format!("{{\"segments\": [], \"device_traces\": [[{{\"action\": \"oom\", {keys}}}]]}}");
    for keys in [
        r#""x": 1, "y": 2, "x": 3"#,
        r#""addr": 1, "x": 2, "addr": null"#,
        r#""addr": null, "size": 1, "addr": 5"#,
        r#""x": 1, "size": null, "addr": 2, "size": 3"#,
        r#""size": 1, "addr": 2, "size": null"#,
    ] {
        for text in [dict(keys), format!("{{\"host_traces\": null, {}", &dict(keys)[1..])] {
            let snapshot = Snapshot::read_slice(text.as_bytes(), &Limits::default()).unwrap();
            let pickle = Snapshot::read_slice(&snapshot.to_pickle().unwrap(), &Limits::default()).unwrap();
            let json = Snapshot::read_slice(&snapshot.to_json().unwrap(), &Limits::default()).unwrap();
            assert!(pickle == snapshot && json == snapshot, "{text}");
            assert_eq!(pickle.to_json().unwrap(), snapshot.to_json().unwrap());
        }
    }
    let text =
        r#"{"host_traces": null, "segments": [], "b": 1, "host_traces": [], "a": 2, "b": 3, "segments": []}"#;
    let snapshot = Snapshot::read_slice(text.as_bytes(), &Limits::default()).unwrap();
    let expected = r#"{"host_traces":[],"segments":[],"b":3,"a":2}"#;
    assert_eq!(str::from_utf8(&snapshot.to_json().unwrap()).unwrap().trim_end(), expected);
    let pickle = Snapshot::read_slice(&snapshot.to_pickle().unwrap(), &Limits::default()).unwrap();
    assert!(pickle == snapshot);
}
