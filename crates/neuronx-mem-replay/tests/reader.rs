//! What the reader accepts and what it refuses, line by line, as the format page has it.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_replay::{
    Event, EventSource, FaultKind, Header, LiveIds, MAX_HEADERS, MAX_LINE_BYTES, ReplayError, TraceLine,
    TraceReader,
};
use proptest::prelude::*;

fn read(text: &[u8]) -> Result<Vec<TraceLine>, ReplayError> {
    TraceReader::new(text, "t.csv").collect()
}

#[track_caller]
fn check_rejected(text: impl AsRef<[u8]>, kind: FaultKind, message: &str) {
    let error = read(text.as_ref()).unwrap_err();
    assert_eq!(error.to_string(), format!("t.csv: {message}"));
    assert_eq!(error.fault().unwrap().kind(), kind);
}

#[track_caller]
fn check_event(line: &str, event: Event) {
    assert_eq!(read(line.as_bytes()).unwrap(), [TraceLine { line: 1, event }], "{line:?}");
}

#[test]
fn every_event_is_read() {
    check_event("a,1,525336576,0", Event::Allocate { id: 1, bytes: 525_336_576, stream: 0 });
    check_event("a,18446744073709551615,0,3\n", Event::Allocate { id: u64::MAX, bytes: 0, stream: 3 });
    check_event("a,007,0010,00\n", Event::Allocate { id: 7, bytes: 10, stream: 0 });
    check_event("f,159\n", Event::Free { id: 159 });
    check_event("r,2,1\r\n", Event::RecordStream { id: 2, stream: 1 });
    check_event("s\r\n", Event::Synchronize);
    check_event("s", Event::Synchronize);
    check_event("m,step 1, forward\n", Event::Mark("step 1, forward".into()));
    check_event("m,\n", Event::Mark("".into()));
    check_event("m,Rückwärts → ∂\r\n", Event::Mark("Rückwärts → ∂".into()));
}

#[test]
fn a_line_that_breaks_a_rule_is_named_with_its_number_and_the_reason() {
    use FaultKind::{ExtraField, MissingField, NotANumber, NotUtf8, NumberOverflow, UnknownEvent};
    check_rejected("x,1\n", UnknownEvent, "line 1: unknown event `x`");
    check_rejected("s\n\n# k: v\nalloc,1,2\n", UnknownEvent, "line 4: unknown event `alloc`");
    check_rejected("A,1,2,0\n", UnknownEvent, "line 1: unknown event `A`");
    check_rejected("s \n", UnknownEvent, "line 1: unknown event `s `");
    check_rejected(" a,1,2,0\n", UnknownEvent, "line 1: unknown event ` a`");
    check_rejected("\0\0\0\n", UnknownEvent, "line 1: unknown event `\\0\\0\\0`");
    check_rejected("\u{feff}s\n", UnknownEvent, "line 1: unknown event `\\u{feff}s`");
    check_rejected("{\"a\": 1}", UnknownEvent, "line 1: unknown event `{\"a\": 1}`");
    let long = format!("{}\n", "z".repeat(40));
    check_rejected(long, UnknownEvent, &format!("line 1: unknown event `{}…`", "z".repeat(32)));

    check_rejected("a\n", MissingField, "line 1: event `a` lacks its id");
    check_rejected("a,\n", MissingField, "line 1: event `a` lacks its id");
    check_rejected("a,1\n", MissingField, "line 1: event `a` lacks its bytes");
    check_rejected("a,1,\n", MissingField, "line 1: event `a` lacks its bytes");
    check_rejected("a,1,,0\n", MissingField, "line 1: event `a` lacks its bytes");
    check_rejected("s\r\na,1,2\r\n", MissingField, "line 2: event `a` lacks its stream");
    check_rejected("f\n", MissingField, "line 1: event `f` lacks its id");
    check_rejected("r,1\n", MissingField, "line 1: event `r` lacks its stream");
    check_rejected("r\n", MissingField, "line 1: event `r` lacks its id");
    check_rejected("m\n", MissingField, "line 1: event `m` lacks its label");

    check_rejected("a,1,2,0,9\n", ExtraField, "line 1: event `a` has an extra field `9`");
    check_rejected("a,1,2,0,\n", ExtraField, "line 1: event `a` has an extra field ``");
    check_rejected("f,1,0\n", ExtraField, "line 1: event `f` has an extra field `0`");
    check_rejected("r,1,0,0\n", ExtraField, "line 1: event `r` has an extra field `0`");
    check_rejected("s,1\n", ExtraField, "line 1: event `s` has an extra field `1`");

    check_rejected("a,-1,2,0\n", NotANumber, "line 1: id `-1` is not a decimal number");
    check_rejected("a,1,2 ,0\n", NotANumber, "line 1: bytes `2 ` is not a decimal number");
    check_rejected("a,1,0x10,0\n", NotANumber, "line 1: bytes `0x10` is not a decimal number");
    check_rejected("a,1,2,+0\n", NotANumber, "line 1: stream `+0` is not a decimal number");
    check_rejected("f,1.0\n", NotANumber, "line 1: id `1.0` is not a decimal number");
    let text = "a,1,99999999999999999999x,0\n";
    check_rejected(text, NotANumber, "line 1: bytes `99999999999999999999x` is not a decimal number");

    let text = "f,18446744073709551616\n";
    check_rejected(text, NumberOverflow, "line 1: id `18446744073709551616` does not fit 64 bits");
    let text = "a,1,184467440737095516150,0\n";
    check_rejected(text, NumberOverflow, "line 1: bytes `184467440737095516150` does not fit 64 bits");

    check_rejected(b"m,ab\xff\n", NotUtf8, "line 1: not UTF-8 text from byte 5 on");
    check_rejected(b"s\n# n: \xc3\n", NotUtf8, "line 2: not UTF-8 text from byte 6 on");
    check_rejected(b"f,\x80\n", NotUtf8, "line 1: not UTF-8 text from byte 3 on");
    check_rejected(b"\x80\x04\x95", NotUtf8, "line 1: not UTF-8 text from byte 1 on");
}

#[test]
fn the_longest_line_is_read_and_one_byte_more_is_not() {
    let label = "l".repeat(MAX_LINE_BYTES - 2);
    for capacity in [1, 16, 4096, 1 << 20] {
        let text = format!("s\nm,{label}\ns\n");
        let reader = std::io::BufReader::with_capacity(capacity, text.as_bytes());
        let lines: Vec<_> = TraceReader::new(reader, "t").map(Result::unwrap).collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1], TraceLine { line: 2, event: Event::Mark(label.as_str().into()) });

        let text = format!("s\nm,{label}!\nf,1\n");
        let reader = std::io::BufReader::with_capacity(capacity, text.as_bytes());
        let error = TraceReader::new(reader, "t").find_map(Result::err).unwrap();
        assert_eq!(error.to_string(), "t: line 2: longer than 65536 bytes");

        let reader = std::io::BufReader::with_capacity(capacity, text.as_bytes());
        let mut reader = TraceReader::new(reader, "t").lenient(true);
        let lines: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
        assert_eq!(lines[1], TraceLine { line: 3, event: Event::Free { id: 1 } });
        assert_eq!(reader.skipped().of(FaultKind::LineTooLong), 1);
        assert_eq!((lines.len(), reader.skipped().total()), (2, 1));
    }
}

#[test]
fn a_line_without_an_end_takes_no_more_memory_than_the_longest() {
    let endless = std::io::BufReader::new(std::io::repeat(b'x'));
    let error = TraceReader::new(endless, "t").find_map(Result::err).unwrap();
    assert_eq!(error.to_string(), "t: line 1: longer than 65536 bytes");
}

#[test]
fn line_ends_blank_lines_and_buffer_sizes_make_no_difference() {
    let unix = "# name: x\n\na,1,512,0\n\nm,step 1\nr,1,2\n   \nf,1\ns\n";
    let expected: Vec<Event> = read(unix.as_bytes()).unwrap().into_iter().map(|line| line.event).collect();
    assert_eq!(expected.len(), 5);
    let variants = [unix.replace('\n', "\r\n"), unix.trim_end().to_owned(), format!("\n\r\n{unix}\r\n")];
    for text in variants {
        for capacity in [1, 2, 3, 7, 64] {
            let reader = std::io::BufReader::with_capacity(capacity, text.as_bytes());
            let lines: Vec<_> = TraceReader::new(reader, "t").map(Result::unwrap).collect();
            let events: Vec<Event> = lines.into_iter().map(|line| line.event).collect();
            assert_eq!(events, expected, "{text:?} in pieces of {capacity}");
        }
    }
}

#[test]
fn headers_are_kept_in_both_forms_and_comments_are_read_over() {
    let text = "# name: gpt2\n#dtype=bf16\n# description=DLRM: a=b\n# a,<id>,<bytes>\n# see also: this\n\
                #\n# : x\n# empty:\ns\n# late = 1\ns\n";
    let mut reader = TraceReader::new(text.as_bytes(), "t");
    assert!(reader.next().unwrap().is_ok());
    let header = |key: &str, value: &str| Header { key: key.to_owned(), value: value.to_owned() };
    let mut expected = vec![
        header("name", "gpt2"),
        header("dtype", "bf16"),
        header("description", "DLRM: a=b"),
        header("empty", ""),
    ];
    assert_eq!(reader.headers(), expected);
    assert_eq!(reader.header("name"), Some("gpt2"));
    assert_eq!(reader.header("nothing"), None);
    assert_eq!(reader.by_ref().count(), 1);
    expected.push(header("late", "1"));
    assert_eq!(reader.headers(), expected);

    let many: String = (0..1000).map(|idx| format!("# k{idx}: v\n")).collect();
    let text = many + "s\n";
    let mut reader = TraceReader::new(text.as_bytes(), "t");
    assert_eq!(reader.by_ref().count(), 1);
    assert_eq!(reader.headers().len(), MAX_HEADERS);
}

#[test]
fn an_input_without_events_is_an_error() {
    for text in ["", "\n", "# name: x\n", "\r\n\r\n# only: headers"] {
        assert_eq!(read(text.as_bytes()).unwrap_err().to_string(), "t.csv: holds no events");
    }
}

#[test]
fn a_lenient_reader_skips_and_counts_by_kind() {
    let text = b"x\na,1\ny,2\ns\nf,1,2\nf,one\nf,99999999999999999999\nm,\xff\ns\n";
    let mut reader = TraceReader::new(text.as_slice(), "t").lenient(true);
    let lines: Vec<u64> = reader.by_ref().map(|line| line.unwrap().line).collect();
    assert_eq!(lines, [4, 9]);
    let counts: Vec<_> = reader.skipped().iter().collect();
    let expected = [
        (FaultKind::UnknownEvent, 2),
        (FaultKind::MissingField, 1),
        (FaultKind::ExtraField, 1),
        (FaultKind::NotANumber, 1),
        (FaultKind::NumberOverflow, 1),
        (FaultKind::NotUtf8, 1),
    ];
    assert_eq!(counts, expected);
    assert_eq!(
        reader.skipped().to_string(),
        "7 (unknown event 2, missing field 1, extra field 1, not a number 1, number too large 1, not UTF-8 1)"
    );

    let error = TraceReader::new("x\n".as_bytes(), "t").lenient(true).find_map(Result::err).unwrap();
    assert_eq!(error.to_string(), "t: holds no events");
}

#[test]
fn nothing_follows_an_error() {
    let mut reader = TraceReader::new("s\nx\ns\n".as_bytes(), "t");
    assert!(reader.next().unwrap().is_ok());
    assert!(reader.next().unwrap().is_err());
    assert!(reader.next().is_none());
    assert_eq!(reader.line(), 2);
}

#[test]
fn live_ids_refuse_what_does_not_fit() {
    let mut live = LiveIds::new();
    assert_eq!(live.allocate(1, 'a'), Ok(()));
    assert_eq!(live.allocate(1, 'b').unwrap_err().to_string(), "id 1 is allocated while it is live");
    assert_eq!(live.recorded(1), Ok(&'a')); // the first value stays
    assert_eq!(live.recorded(2).unwrap_err().to_string(), "a stream is recorded for id 2, which is not live");
    assert_eq!((live.len(), live.free(1), live.is_empty()), (1, Ok('a'), true));
    assert_eq!(live.free(1).unwrap_err().to_string(), "id 1 is freed but not live");
    assert_eq!(live.allocate(1, 'c'), Ok(())); // an id may come again
}

/// Lines that look right, nearly right and wrong.
fn any_line() -> impl Strategy<Value = Vec<u8>> {
    let field = prop_oneof![
        any::<u64>().prop_map(|number| number.to_string()),
        Just(String::new()),
        Just("-1".to_owned()),
        Just("99999999999999999999".to_owned()),
        any::<String>(),
    ];
    let first =
        prop_oneof![Just("a"), Just("f"), Just("r"), Just("s"), Just("m"), Just("#"), Just("q"), Just("")];
    (first, proptest::collection::vec(field, 0..5))
        .prop_map(|(first, fields)| [&[first.to_owned()], fields.as_slice()].concat().join(",").into_bytes())
}

proptest! {
    #[test]
    fn any_bytes_are_events_or_an_error(bytes: Vec<u8>) {
        let _ = read(&bytes);
        for line in TraceReader::new(bytes.as_slice(), "t").lenient(true) {
            // With every wrong line skipped, nothing is left to fail on but the lack of events.
            let is_expected = matches!(line, Ok(_) | Err(ReplayError::NoEvents { .. }));
            prop_assert!(is_expected);
        }
    }

    #[test]
    fn leniency_only_leaves_lines_out(lines in proptest::collection::vec(any_line(), 0..20), capacity in 1usize..40) {
        let text = lines.join(&b'\n');
        let strict: Vec<_> = TraceReader::new(text.as_slice(), "t").map_while(Result::ok).collect();
        let pieces = std::io::BufReader::with_capacity(capacity, text.as_slice());
        let mut reader = TraceReader::new(pieces, "t").lenient(true);
        let lenient: Vec<_> = reader.by_ref().map_while(Result::ok).collect();
        prop_assert!(lenient.starts_with(&strict));
        let n_lines = text.split(|byte| *byte == b'\n').count() as u64;
        prop_assert!(lenient.len() as u64 + reader.skipped().total() <= n_lines);
    }
}
