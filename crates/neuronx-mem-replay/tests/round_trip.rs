//! What is written, or kept in memory, comes back as it was.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_replay::{
    Compression, Event, EventSource, MAX_LINE_BYTES, Trace, TraceInput, TraceLine, TraceReader, TraceWriter,
    write_trace,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn any_event() -> impl Strategy<Value = Event> {
    let number = || prop_oneof![0u64..300, any::<u64>()];
    prop_oneof![
        3 => (number(), number(), number()).prop_map(|(id, bytes, stream)| Event::Allocate { id, bytes, stream }),
        3 => number().prop_map(|id| Event::Free { id }),
        1 => (number(), number()).prop_map(|(id, stream)| Event::RecordStream { id, stream }),
        1 => Just(Event::Synchronize),
        1 => "[^\r\n]{0,20}".prop_map(|label| Event::Mark(label.into())),
    ]
}

fn written(events: &[Event]) -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new());
    events.iter().for_each(|event| writer.event(event).unwrap());
    writer.finish().unwrap()
}

proptest! {
    #[test]
    fn written_events_are_read_back(events in vec(any_event(), 1..60)) {
        let text = written(&events);
        let read: Vec<Event> =
            TraceReader::new(text.as_slice(), "t").map(|line| line.unwrap().event).collect();
        prop_assert_eq!(read, events);
    }

    #[test]
    fn a_trace_in_memory_gives_the_same_lines_every_time(
        events in vec((any_event(), 0usize..3), 1..60),
    ) {
        let mut text = b"# name: t\n".to_vec();
        for (event, n_blank) in events {
            text.extend(b"\n".repeat(n_blank));
            text.extend(written(&[event]));
        }
        let read: Vec<TraceLine> = TraceReader::new(text.as_slice(), "t").map(Result::unwrap).collect();
        let trace = Trace::read(TraceReader::new(text.as_slice(), "t")).unwrap();
        for _ in 0..2 {
            let kept: Vec<TraceLine> = trace.events().map(Result::unwrap).collect();
            prop_assert_eq!(&kept, &read);
        }
        prop_assert_eq!(trace.n_events(), read.len() as u64);
        prop_assert_eq!(trace.headers()[0].value.as_str(), "t");
    }
}

#[test]
fn a_usual_event_takes_few_bytes_in_memory() {
    let text: String = (1..1000u64).map(|id| format!("a,{id},1048576,0\nf,{id}\n")).collect();
    let trace = Trace::read(TraceReader::new(text.as_bytes(), "t")).unwrap();
    // a: tag, distance 1, three bytes of size; f: tag and distance 0.
    assert_eq!(trace.encoded_bytes(), 999 * (1 + 1 + 3 + 1 + 1));
}

#[test]
fn headers_are_written_in_the_canonical_form() {
    let mut writer = TraceWriter::new(Vec::new());
    writer.header("name", "gpt2: a=b").unwrap();
    writer.header("empty", "").unwrap();
    writer.event(&Event::Synchronize).unwrap();
    let text = writer.finish().unwrap();
    assert_eq!(String::from_utf8(text.clone()).unwrap(), "# name: gpt2: a=b\n# empty: \ns\n");
    let mut reader = TraceReader::new(text.as_slice(), "t");
    assert_eq!(reader.by_ref().count(), 1);
    assert_eq!((reader.header("name"), reader.header("empty")), (Some("gpt2: a=b"), Some("")));
}

#[test]
fn what_would_not_come_back_is_not_written() {
    let mut writer = TraceWriter::new(Vec::new());
    for key in ["", "two words", "a:b", "a=b", "a\nb"] {
        assert!(writer.header(key, "value").is_err(), "{key:?}");
    }
    let long = "v".repeat(MAX_LINE_BYTES);
    for value in [" padded", "two\nlines", long.as_str()] {
        assert!(writer.header("key", value).is_err());
    }
    for label in ["two\nlines", "end\r", long.as_str()] {
        assert!(writer.event(&Event::Mark(label.into())).is_err());
    }
    let longest = "l".repeat(MAX_LINE_BYTES - 2);
    writer.event(&Event::Mark(longest.as_str().into())).unwrap();
    let text = writer.finish().unwrap();
    let lines: Vec<_> = TraceReader::new(text.as_slice(), "t").map(Result::unwrap).collect();
    assert_eq!(lines, [TraceLine { line: 1, event: Event::Mark(longest.into()) }]);
    let error = TraceWriter::new(Vec::new()).header("a b", "").unwrap_err();
    assert_eq!(error.to_string(), "\"a b\" cannot be written as a header key of a trace");
}

#[test]
fn a_written_trace_is_compressed_as_asked_and_read_by_content() {
    let text = "# name: t\na,1,512,0\nm,x\nr,1,2\ns\nf,1\n";
    let folder = tempfile::tempdir().unwrap();
    for (compression, magic) in [
        (Compression::None, b"# n".as_slice()),
        (Compression::Gzip, b"\x1f\x8b"),
        (Compression::Zstd, b"\x28\xb5\x2f\xfd"),
    ] {
        let mut bytes = Vec::new();
        write_trace(TraceReader::new(text.as_bytes(), "t"), &mut bytes, compression).unwrap();
        assert!(bytes.starts_with(magic), "{compression:?}");
        let path = folder.path().join("trace");
        std::fs::write(&path, bytes).unwrap();
        let trace = Trace::read_input(&TraceInput::File(path), false).unwrap();
        let mut back = Vec::new();
        write_trace(trace.events(), &mut back, Compression::None).unwrap();
        assert_eq!(String::from_utf8(back).unwrap(), text);
    }
}

#[test]
fn a_written_trace_fits_together() {
    let write = |is_lenient| {
        let reader = TraceReader::new("f,1\na,1,1,0\na,1,2,0\nf,1\n".as_bytes(), "t").lenient(is_lenient);
        let mut text = Vec::new();
        write_trace(reader, &mut text, Compression::None).map(|()| String::from_utf8(text).unwrap())
    };
    assert_eq!(write(false).unwrap_err().to_string(), "t: line 1: id 1 is freed but not live");
    assert_eq!(write(true).unwrap(), "a,1,1,0\nf,1\n");
}

#[test]
fn a_label_before_two_carriage_returns_can_be_written() {
    // Found by fuzzing: the label kept one of them, which no line can carry.
    let mut text = Vec::new();
    write_trace(TraceReader::new("m,a\rb\r\r\ns\r\r\n".as_bytes(), "t"), &mut text, Compression::None)
        .unwrap();
    assert_eq!(str::from_utf8(&text).unwrap(), "m,a\rb\ns\n");
}
