//! Any bytes as a trace: an error with its line, or events that come back the same from memory and
//! from what is written. A lenient reader gets through everything.

#![no_main]

use libfuzzer_sys::fuzz_target;
use neuronx_mem_replay::{EventSource, Fault, ReplayError, Trace, TraceLine, TraceReader, TraceWriter};

fuzz_target!(|bytes: &[u8]| {
    let lenient = Trace::read(TraceReader::new(bytes, "fuzz").lenient(true));
    match &lenient {
        Ok(trace) => check_trace(trace),
        Err(ReplayError::NoEvents { .. }) => {}
        Err(error) => panic!("a lenient reader fails: {error}"),
    }
    match Trace::read(TraceReader::new(bytes, "fuzz")) {
        Ok(strict) => {
            assert_eq!(strict.events().skipped().total(), 0);
            assert!(strict.events().map(event).eq(lenient.expect("the same").events().map(event)));
        }
        Err(ReplayError::Rejected { fault, line, .. }) => {
            assert!(line > 0 && !fault.to_string().contains('\n'));
            assert!(!matches!(fault, Fault::AllocatedTwice { .. }), "known only to a replay");
        }
        Err(ReplayError::NoEvents { .. }) => {}
        Err(error) => panic!("bytes in memory cannot fail so: {error}"),
    }
});

fn event(line: Result<TraceLine, ReplayError>) -> TraceLine {
    line.expect("a trace in memory is whole")
}

fn check_trace(trace: &Trace) {
    let mut writer = TraceWriter::new(Vec::new());
    for header in trace.headers() {
        // One that filled its line to the limit has no room for the canonical form.
        let _ = writer.header(&header.key, &header.value);
    }
    for line in trace.events().map(event) {
        writer.event(&line.event).expect("what was read can be written");
    }
    let text = writer.finish().expect("memory takes everything");
    let back = TraceReader::new(text.as_slice(), "back").map(|line| event(line).event);
    assert!(back.eq(trace.events().map(|line| event(line).event)));
}
