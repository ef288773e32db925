//! What an event is before, while and after it is recorded, and the time it tells.

use std::sync::Arc;

use neuronx_mem_stream::worker::{Event, Worker};

use crate::support::{Gate, VirtualClock, check_error, worker};

fn timed_worker() -> (Worker, Arc<VirtualClock>) {
    let clock = Arc::new(VirtualClock::default());
    let worker = Worker::builder(0).clock(Arc::<VirtualClock>::clone(&clock)).start().unwrap();
    (worker, clock)
}

#[track_caller]
fn check_no_time(start: &Event, end: &Event, expected: &str) {
    check_error(start.elapsed_ns(end), &format!("the {expected}"));
}

#[test]
fn test_event_never_recorded() {
    let worker = worker();
    let (event, stream) = (worker.create_event(), worker.default_stream());
    assert_eq!(event.query(), Ok(true));
    event.synchronize().unwrap();
    event.wait(&stream).unwrap();
    assert_eq!(stream.query(), Ok(true)); // nothing was queued
}

#[test]
fn test_event_on_an_idle_stream_completes_at_once() {
    let (worker, _) = timed_worker();
    let stream = worker.default_stream();
    for event in [worker.create_event(), worker.create_timed_event()] {
        event.record(&stream).unwrap();
        assert_eq!((event.query(), stream.query()), (Ok(true), Ok(true)));
    }
}

#[test]
fn test_event_query() {
    let worker = worker();
    let stream = worker.default_stream();
    let events = [worker.create_event(), worker.create_timed_event()];
    let gate = Gate::close(&stream);
    for event in &events {
        event.record(&stream).unwrap();
        assert_eq!(event.query(), Ok(false));
    }
    gate.open();
    for event in &events {
        event.synchronize().unwrap();
        assert_eq!(event.query(), Ok(true));
    }
    assert_eq!(events.each_ref().map(Event::is_timed), [false, true]);
}

#[test]
fn test_event_recorded_again_moves() {
    let worker = worker();
    let (event, stream) = (worker.create_event(), worker.default_stream());
    let first = Gate::close(&stream);
    event.record(&stream).unwrap();
    let second = Gate::queue(&stream);
    event.record(&stream).unwrap();
    first.open();
    assert_eq!(event.query(), Ok(false));
    second.open();
    event.synchronize().unwrap();
    assert_eq!((event.query(), stream.query()), (Ok(true), Ok(true)));
}

#[test]
fn test_event_elapsed_time() {
    let (worker, clock) = timed_worker();
    let stream = worker.default_stream();
    let (start, end) = (worker.create_timed_event(), worker.create_timed_event());
    let gate = Gate::close(&stream);
    stream.submit(clock.work(1_000)).unwrap();
    start.record(&stream).unwrap();
    stream.submit(clock.work(250)).unwrap();
    stream.submit(clock.work(5)).unwrap();
    end.record(&stream).unwrap();
    stream.submit(clock.work(70_000)).unwrap();
    gate.open();
    stream.synchronize().unwrap();
    assert_eq!((start.elapsed_ns(&end), end.elapsed_ns(&start)), (Ok(255), Ok(-255)));
    end.record(&stream).unwrap();
    assert_eq!(start.elapsed_ns(&end), Ok(70_255));
}

#[test]
fn test_event_elapsed_time_needs_two_completed_timed_events() {
    let (worker, _) = timed_worker();
    let stream = worker.default_stream();
    let (plain, timed, late) =
        (worker.create_event(), worker.create_timed_event(), worker.create_timed_event());
    check_no_time(&plain, &timed, "start event has no time: it is not timed");
    check_no_time(&timed, &late, "start event has no time: it was never recorded");
    timed.record(&stream).unwrap();
    check_no_time(&timed, &late, "end event has no time: it was never recorded");
    let gate = Gate::close(&stream);
    late.record(&stream).unwrap();
    check_no_time(&timed, &late, "end event has no time: it has not completed");
    gate.open();
    stream.synchronize().unwrap();
    assert_eq!(timed.elapsed_ns(&late), Ok(0));
    let gate = Gate::close(&stream);
    stream.submit(|| panic!("bad address")).unwrap();
    late.record(&stream).unwrap();
    gate.open();
    late.synchronize().unwrap();
    check_no_time(&timed, &late, "end event has no time: its stream was poisoned before it was reached");
}

#[test]
fn the_default_clock_does_not_go_back() {
    let worker = worker();
    let stream = worker.default_stream();
    let (start, end) = (worker.create_timed_event(), worker.create_timed_event());
    for event in [&start, &end] {
        let gate = Gate::close(&stream);
        event.record(&stream).unwrap();
        gate.open();
        event.synchronize().unwrap();
    }
    assert!(start.elapsed_ns(&end).unwrap() >= 0);
}
