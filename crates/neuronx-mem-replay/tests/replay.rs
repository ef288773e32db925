//! Tiny traces with numbers that can be checked by hand: default rules, 64 MiB segments.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::path::Path;

use neuronx_mem::streams::StreamId;
use neuronx_mem::{AllocError, AllocatorConfig, Device, StepKind};
use neuronx_mem_replay::{
    FaultKind, Outcome, Replay, ReplayError, ReplayOptions, ReplayReport, Trace, TraceInput, TraceReader,
    best_of, compare,
};

const MIB: u64 = 1 << 20;

/// Events of a trace, separated by blanks; `4M` is 4 MiB.
fn trace(events: &str) -> Trace {
    let text: String = events.split_whitespace().map(|event| in_mib(event) + "\n").collect();
    Trace::read(TraceReader::new(text.as_bytes(), "t")).unwrap()
}

fn in_mib(event: &str) -> String {
    let fields = event.split(',').map(|field| match field.strip_suffix('M') {
        Some(number) => (number.parse::<u64>().unwrap() * MIB).to_string(),
        None => field.to_owned(),
    });
    fields.collect::<Vec<_>>().join(",")
}

fn replay(options: ReplayOptions, events: &str) -> ReplayReport {
    Replay::new(options).run(trace(events).events()).unwrap().report
}

/// Allocated MiB after each event.
#[track_caller]
fn check_in_flight(in_flight: u64, events: &str, expected: &[u64]) {
    let mut allocated = Vec::new();
    let options = ReplayOptions { in_flight, ..ReplayOptions::default() };
    let look = |device: &Device| device.memory_allocated() / MIB;
    Replay::new(options)
        .observe(trace(events).events(), |progress| allocated.push(look(progress.device)))
        .unwrap();
    assert_eq!(allocated, expected, "{events} with {in_flight} in flight");
}

#[test]
fn frees_take_effect_at_once_unless_work_is_in_flight() {
    let events = "a,1,4M,0 f,1 a,2,4M,0 f,2 a,3,4M,0 f,3 s";
    check_in_flight(0, events, &[4, 0, 4, 0, 4, 0, 0]);
    // Each allocation completes the work before it, and the free behind that.
    check_in_flight(1, events, &[4, 4, 4, 4, 4, 4, 0]);
    check_in_flight(2, events, &[4, 4, 8, 8, 8, 8, 0]);
    check_in_flight(3, events, &[4, 4, 8, 8, 12, 12, 0]);
    check_in_flight(u64::MAX, events, &[4, 4, 8, 8, 12, 12, 0]);
}

#[test]
fn work_completes_on_its_own_stream_only() {
    // Stream 7 goes on; the free on stream 0 waits for stream 0.
    check_in_flight(1, "a,1,4M,0 f,1 a,2,4M,7 a,3,4M,7 a,4,4M,0", &[4, 4, 8, 12, 12]);
    // A free waits only for work submitted before it.
    check_in_flight(2, "a,1,4M,0 a,2,4M,0 a,3,4M,0 f,1 a,4,4M,0 a,5,4M,0", &[4, 8, 12, 12, 16, 16]);
}

#[test]
fn a_recorded_stream_delays_the_free_as_well() {
    // Stream 0 has nothing outstanding after its second allocation, stream 3 still has.
    let recorded = "a,1,4M,0 a,2,4M,3 r,1,3 f,1 a,3,4M,0 a,4,4M,3";
    check_in_flight(1, recorded, &[4, 8, 8, 8, 12, 12]);
    let plain = "a,1,4M,0 a,2,4M,3 f,1 a,3,4M,0 a,4,4M,3";
    check_in_flight(1, plain, &[4, 8, 8, 8, 12]);
    // Recorded on an idle stream, or with no work at all, it is an ordinary free.
    check_in_flight(0, recorded, &[4, 8, 8, 4, 8, 12]);
    check_in_flight(1, "a,1,4M,0 r,1,9 s f,1", &[4, 4, 4, 0]);
}

#[test]
fn streams_are_numbered_in_order_of_first_appearance() {
    let mut blocks = Vec::new();
    let events = trace("a,1,4M,9 a,2,4M,0 a,3,4M,5 r,3,77 a,4,4M,9");
    let Outcome { device, .. } = Replay::new(ReplayOptions { in_flight: 8, ..ReplayOptions::default() })
        .observe(events.events(), |progress| blocks.extend(progress.handle))
        .unwrap();
    // The high half of a block's tag is its stream (the device's own encoding).
    let stream_of = |address| {
        device.inspect(|pool| {
            pool.find_block(address).map(|block| StreamId(u32::try_from(block.tag >> 32).unwrap()))
        })
    };
    let streams: Vec<_> = blocks.iter().map(|handle| stream_of(handle.address).unwrap().0).collect();
    assert_eq!(streams, [1, 0, 2, 2, 1]);
}

#[test]
fn the_report_has_the_allocators_own_figures() {
    let report =
        replay(ReplayOptions::default(), "m,init a,1,4M,0 a,2,8M,0 f,1 a,3,64M,0 a,4,0,0 a,5,1000,0 s f,4");
    assert_eq!((report.events, report.peak_event), (9, Some(7)));
    assert_eq!(report.allocated_peak_bytes, 72 * MIB + 1024);
    assert_eq!(report.active_peak_bytes, 72 * MIB + 1000);
    assert_eq!(report.requested_peak_bytes, report.active_peak_bytes);
    assert_eq!(report.reserved_peak_bytes, 130 * MIB);
    assert_eq!((report.allocated_bytes, report.active_bytes), (72 * MIB + 1024, 72 * MIB + 1000));
    assert_eq!((report.segments_allocated, report.segments_released, report.num_device_alloc), (3, 0, 3));
    assert_eq!((report.num_ooms, report.num_alloc_retries, report.pending_bytes), (0, 0, 0));
    assert_eq!(report.device_total_bytes, 24 << 30);
    assert_eq!(report.config_hash, AllocatorConfig::default().hash64());
    assert!(report.summary.contains("Allocations: 5  |  Frees: 1"));
}

#[test]
fn a_replay_stops_where_it_is_told() {
    let events = "a,1,4M,0 a,2,8M,0 f,1 f,2";
    for (until, expected) in [(0, (0, 0)), (1, (1, 4)), (2, (2, 12)), (3, (3, 8)), (4, (4, 0)), (9, (4, 0))] {
        let report = replay(ReplayOptions { until: Some(until), ..ReplayOptions::default() }, events);
        assert_eq!((report.events, report.allocated_bytes / MIB), expected);
    }
}

#[test]
fn out_of_memory_ends_the_replay_and_has_the_numbers() {
    let options = ReplayOptions { memory_bytes: Some(100 * MIB), ..ReplayOptions::default() };
    let report = replay(options, "s a,1,20M,0 a,2,40M,0 f,1 a,3,50M,0 a,4,30M,0 f,2 s");
    let oom = report.out_of_memory.as_ref().unwrap();
    assert_eq!((report.events, oom.event, oom.line), (4, 5, 5));
    assert_eq!((report.num_ooms, report.num_alloc_retries), (1, 1));
    assert_eq!((report.segments_allocated, report.segments_released), (2, 1));
    assert_eq!((report.reserved_peak_bytes, report.reserved_bytes), (60 * MIB, 40 * MIB));
    let error = &oom.error;
    assert_eq!((error.requested_bytes, error.total_bytes), (50 * MIB, 100 * MIB));
    assert_eq!((error.reserved_bytes, error.allocated_bytes), (40 * MIB, 40 * MIB));
    assert_eq!(
        error.steps.last().map(|step| (step.kind, step.gained_bytes)),
        Some((StepKind::ReleaseSegments, 20 * MIB))
    );
}

#[test]
fn recovery_waits_for_work_in_flight() {
    let options = ReplayOptions { memory_bytes: Some(64 * MIB), in_flight: 100, ..ReplayOptions::default() };
    // What waits for the request's own stream only can be had at once.
    let report = replay(options, "a,1,40M,0 f,1 a,2,40M,0");
    assert_eq!((report.num_ooms, report.num_alloc_retries), (0, 0));
    let report = replay(options, "a,1,40M,1 f,1 a,2,40M,0");
    assert_eq!((report.num_ooms, report.num_alloc_retries), (0, 1));
    assert_eq!((report.allocated_bytes, report.reserved_peak_bytes), (40 * MIB, 40 * MIB));
    let report = replay(options, "a,1,40M,0 f,1");
    assert_eq!((report.pending_bytes, report.allocated_bytes), (40 * MIB, 40 * MIB));
}

#[track_caller]
fn check_refused(text: &str, kind: FaultKind, message: &str) {
    let run = |is_lenient| {
        Replay::default()
            .run(TraceReader::new(text.as_bytes(), "t").lenient(is_lenient))
            .map(|outcome| outcome.report)
    };
    let error = run(false).unwrap_err();
    assert_eq!(error.to_string(), format!("t: {message}"));
    let report = run(true).unwrap();
    assert_eq!((report.skipped.of(kind), report.skipped.total()), (1, 1));
    assert_eq!(report.events, text.lines().count() as u64 - 1);
}

#[test]
fn events_that_do_not_fit_are_refused_or_skipped() {
    check_refused(
        "a,1,512,0\na,1,512,0\n",
        FaultKind::AllocatedTwice,
        "line 2: id 1 is allocated while it is live",
    );
    check_refused("s\nf,9\n", FaultKind::FreeOfNotLive, "line 2: id 9 is freed but not live");
    check_refused("a,1,0,0\nf,1\nf,1\n", FaultKind::FreeOfNotLive, "line 3: id 1 is freed but not live");
    check_refused(
        "a,1,512,0\nf,1\nr,1,2\n",
        FaultKind::RecordOfNotLive,
        "line 3: a stream is recorded for id 1, which is not live",
    );
    check_refused("s\nz\n", FaultKind::UnknownEvent, "line 2: unknown event `z`");
}

#[test]
fn a_refused_event_changes_nothing() {
    let text = "a,1,4194304,0\na,1,8388608,0\nf,1\n";
    let report = Replay::default().run(TraceReader::new(text.as_bytes(), "t").lenient(true)).unwrap().report;
    assert_eq!((report.allocated_peak_bytes, report.allocated_bytes), (4 * MIB, 0));
}

#[test]
fn a_request_beyond_any_device_is_an_error_with_its_line() {
    let text = format!("s\na,1,{},0\n", u64::MAX);
    let error = Replay::default().run(TraceReader::new(text.as_bytes(), "t")).unwrap_err();
    assert!(matches!(
        &error,
        ReplayError::Allocator { line: 2, source: AllocError::SizeOverflow { .. }, .. }
    ));
    assert_eq!(
        error.to_string(),
        "t: line 2: request of 18446744073709551615 bytes is too large for any device"
    );
}

#[test]
fn the_device_can_be_looked_at_at_its_peak_and_at_the_end() {
    let look = |device: &Device| (device.memory_allocated() / MIB, device.usage().cached_free_bytes / MIB);
    let events = trace("a,1,4M,0 a,2,8M,0 f,1 a,3,2M,0 a,4,2M,0 f,2 f,3 f,4");
    let analysed = Replay::default().analyse_trace(&events, look).unwrap();
    assert_eq!(analysed.report.peak_event, Some(2)); // the first of two equal peaks
    assert_eq!((analysed.analysis_at_peak, analysed.analysis_at_end), (Some((12, 52)), (0, 64)));

    let nothing = Replay::default().analyse_trace(&trace("s m,x"), look).unwrap();
    assert_eq!((nothing.analysis_at_peak, nothing.analysis_at_end), (None, (0, 0)));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "a,1,4194304,0\nx\nf,1\n").unwrap();
    let file = TraceInput::from_argument(&path);
    let analysed = Replay::default().analyse(&file, true, look).unwrap();
    assert_eq!((analysed.analysis_at_peak, analysed.analysis_at_end), (Some((4, 60)), (0, 64)));
    assert!(Replay::default().analyse(&file, false, look).is_err());
    assert!(
        Replay::default()
            .analyse(&TraceInput::from_argument(Path::new("no such file")), false, look)
            .is_err()
    );
}

fn smaller_segments() -> AllocatorConfig {
    AllocatorConfig::parse("kMediumSegmentSize=16777216").config
}

#[test]
fn a_comparison_keeps_the_order_and_marks_the_first_best() {
    let trace = trace("a,1,4M,0 a,2,4M,0 f,1 f,2");
    let configs =
        [AllocatorConfig::default(), smaller_segments(), AllocatorConfig::default(), smaller_segments()];
    let comparison = compare(&trace, &ReplayOptions::default(), &configs).unwrap();
    let reserved: Vec<u64> = comparison.rows.iter().map(|row| row.reserved_peak_bytes / MIB).collect();
    assert_eq!(reserved, [64, 16, 64, 16]);
    assert_eq!(comparison.best, Some(1));
    let hashes: Vec<u64> = comparison.rows.iter().map(|row| row.config_hash).collect();
    assert_eq!(hashes, configs.map(|config| config.hash64()));
    assert_eq!(compare(&trace, &ReplayOptions::default(), &[]).unwrap().best, None);
}

#[test]
fn out_of_memory_is_worse_than_any_peak_and_segments_break_ties() {
    let mut rows = vec![replay(ReplayOptions::default(), "a,1,4M,0"); 4];
    for (row, (ooms, reserved, segments)) in rows.iter_mut().zip([(1, 1, 1), (0, 9, 1), (0, 8, 3), (0, 8, 2)])
    {
        (row.num_ooms, row.reserved_peak_bytes, row.num_device_alloc) = (ooms, reserved, segments);
    }
    assert_eq!(best_of(&rows), Some(3));
    assert_eq!(best_of(&rows[..3]), Some(2));
    assert_eq!(best_of(&rows[..1]), Some(0));
    assert_eq!(best_of(&[]), None);
}

#[test]
fn an_error_in_a_comparison_is_the_first_configurations() {
    let trace = trace("a,1,4M,0 f,2");
    let configs = [AllocatorConfig::default(), smaller_segments()];
    let error = compare(&trace, &ReplayOptions::default(), &configs).unwrap_err();
    assert_eq!(error.to_string(), "t: line 2: id 2 is freed but not live");
}
