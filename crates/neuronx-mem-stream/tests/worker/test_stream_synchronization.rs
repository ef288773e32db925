//! Order within a stream, independence between streams, and waiting for either.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use neuronx_mem_stream::Ticket;
use neuronx_mem_stream::worker::Priority;

use crate::support::{DEFAULT, Gate, Log, Owner, worker, worker_of};

#[test]
fn test_stream_order() {
    let (worker, log) = (worker(), Log::new());
    for number in 0..1000 {
        assert_eq!(worker.submit(DEFAULT, log.work(number)), Ok(Ticket(number + 1)));
    }
    worker.synchronize(DEFAULT).unwrap();
    assert_eq!(log.entries(), (0..1000).collect::<Vec<u64>>());
}

#[test]
fn test_stream_query_and_synchronize() {
    let worker = worker();
    let stream = worker.create_stream(Priority::DEFAULT).unwrap();
    assert_eq!((stream.query(), worker.is_idle()), (Ok(true), Ok(true)));
    stream.synchronize().unwrap();
    let gate = Gate::close(&stream);
    assert_eq!((stream.query(), worker.query(DEFAULT), worker.is_idle()), (Ok(false), Ok(true), Ok(false)));
    // The other stream has nothing to wait for, busy as the device is.
    worker.synchronize(DEFAULT).unwrap();
    gate.open();
    stream.synchronize().unwrap();
    assert_eq!((stream.query(), worker.is_idle()), (Ok(true), Ok(true)));
}

#[test]
fn test_stream_synchronize_waits_for_what_was_submitted_before_it() {
    let worker = worker();
    let (stream, ran) = (worker.default_stream(), Arc::new(AtomicU32::new(0)));
    for expected in 1..=100 {
        let count = Arc::clone(&ran);
        let work = move || {
            count.fetch_add(1, Ordering::Relaxed);
        };
        stream.submit(work).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), expected);
    }
}

#[test]
fn test_stream_synchronize_all_waits_for_every_stream() {
    let (worker, log) = (worker(), Log::new());
    let streams: Vec<_> = (0..3).map(|_| worker.create_stream(Priority::DEFAULT).unwrap()).collect();
    let gate = Gate::close(&worker.default_stream());
    for stream in &streams {
        stream.submit(log.work(stream.id().0)).unwrap();
    }
    gate.open();
    worker.synchronize_all().unwrap();
    assert_eq!(log.entries(), [1, 2, 3]);
    assert_eq!(worker.is_idle(), Ok(true));
}

#[test]
fn test_stream_priorities() {
    let (worker, log) = (worker(), Log::new());
    let [low, high] = [0, 2].map(|level| worker.create_stream(Priority::new(level).unwrap()).unwrap());
    let gate = Gate::close(&worker.default_stream());
    for number in 0..3 {
        low.submit(log.work(("low", number))).unwrap();
        worker.submit(DEFAULT, log.work(("default", number))).unwrap();
        high.submit(log.work(("high", number))).unwrap();
    }
    gate.open();
    worker.synchronize_all().unwrap();
    let high_first = [("high", 0), ("high", 1), ("high", 2)];
    let then_as_submitted =
        [("low", 0), ("default", 0), ("low", 1), ("default", 1), ("low", 2), ("default", 2)];
    assert_eq!(log.entries(), [high_first.as_slice(), then_as_submitted.as_slice()].concat());
}

#[test]
fn test_stream_wait_stream() {
    let (worker, log) = (worker(), Log::new());
    let [urgent, other] = [3, 0].map(|level| worker.create_stream(Priority::new(level).unwrap()).unwrap());
    let gate = Gate::close(&worker.default_stream());
    other.submit(log.work("other, before")).unwrap();
    urgent.wait_stream(&other).unwrap();
    urgent.submit(log.work("urgent")).unwrap();
    other.submit(log.work("other, after")).unwrap();
    gate.open();
    worker.synchronize_all().unwrap();
    assert_eq!(log.entries(), ["other, before", "urgent", "other, after"]);
}

#[test]
fn test_stream_wait_stream_on_itself_or_an_idle_one_queues_nothing() {
    let owner = Owner::new();
    let worker = worker_of(&owner);
    let [a, b] = [0, 0].map(|_| worker.create_stream(Priority::DEFAULT).unwrap());
    let gate = Gate::close(&a);
    a.wait_stream(&a).unwrap();
    a.wait_stream(&b).unwrap();
    worker.wait_stream(b.id(), b.id()).unwrap();
    assert_eq!(b.query(), Ok(true));
    gate.open();
    worker.synchronize_all().unwrap();
    assert_eq!(owner.completed(), [(a.id().0, 1)]);
}

#[test]
fn streams_that_wait_for_each_other_in_turn_make_no_cycle() {
    let (worker, log) = (worker(), Log::new());
    let [a, b] = [0, 0].map(|_| worker.create_stream(Priority::DEFAULT).unwrap());
    let gate = Gate::close(&worker.default_stream());
    for number in 0..100 {
        a.submit(log.work(2 * number)).unwrap();
        b.wait_stream(&a).unwrap();
        b.submit(log.work(2 * number + 1)).unwrap();
        a.wait_stream(&b).unwrap();
    }
    gate.open();
    worker.synchronize_all().unwrap();
    assert_eq!(log.entries(), (0..200).collect::<Vec<_>>());
}

#[test]
fn a_stalled_stream_delays_no_other_and_only_its_own_blocks() {
    let owner = Owner::new();
    let worker = worker_of(&owner);
    let [stalled, b, c] = [0, 0, 0].map(|_| worker.create_stream(Priority::DEFAULT).unwrap());
    let signal = worker.create_signal();
    signal.wait(&stalled).unwrap();
    stalled.submit(|| ()).unwrap();
    owner.free(0, &stalled, &[]);
    owner.free(10_001, &b, &[&stalled]);
    for block in 1..=10_000 {
        let stream = if block % 2 == 0 { &b } else { &c };
        stream.submit(|| ()).unwrap();
        owner.free(block, stream, &[]);
    }
    b.synchronize().unwrap();
    c.synchronize().unwrap();
    let mut reusable = owner.reusable();
    reusable.sort_unstable();
    assert_eq!(reusable, (1..=10_000).collect::<Vec<_>>());
    assert_eq!((owner.n_pending(), stalled.query()), (2, Ok(false)));
    signal.set().unwrap();
    stalled.synchronize().unwrap();
    assert_eq!(owner.reusable()[10_000..], [0, 10_001]);
    assert_eq!(owner.n_pending(), 0);
}
