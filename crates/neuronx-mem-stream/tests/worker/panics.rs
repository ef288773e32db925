//! Work that panics poisons its stream, loses nothing that others wait for, and ends nothing.

use std::panic::panic_any;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use neuronx_mem_stream::worker::{Completion, MAX_PANIC_BYTES, Priority, Stream, Worker, WorkerError};
use neuronx_mem_stream::{StreamId, Ticket};

use crate::support::{DEFAULT, Gate, Log, Owner, check_error, worker, worker_of};

fn poisoned(stream: &Stream, ticket: u64, message: &str) -> WorkerError {
    WorkerError::StreamPoisoned { stream: stream.id(), ticket: Ticket(ticket), message: message.to_owned() }
}

#[test]
fn what_is_queued_behind_a_panic_is_dropped_and_completed() {
    let owner = Owner::new();
    let (worker, log) = (worker_of(&owner), Log::new());
    let [a, b] = [0, 0].map(|_| worker.create_stream(Priority::DEFAULT).unwrap());
    let gate = Gate::close(&a);
    a.submit(|| panic!("bad address {:#x}", 64)).unwrap();
    owner.free(1, &a, &[]);
    a.submit(log.work("a")).unwrap();
    owner.free(2, &a, &[]);
    b.wait_stream(&a).unwrap();
    b.submit(log.work("b")).unwrap();
    let result = a.submit_returning(|| 7).unwrap();
    let signal = worker.create_signal();
    signal.wait(&a).unwrap();
    owner.free(3, &a, &[&b]);
    gate.open();
    let error = poisoned(&a, 2, "bad address 0x40");
    assert_eq!(a.synchronize(), Err(error.clone()));
    assert_eq!(result.wait(), Err(error.clone()));
    b.synchronize().unwrap();
    assert_eq!(log.entries(), ["b"]);
    assert_eq!((owner.reusable(), owner.n_pending()), (vec![1, 2, 3], 0));
    check_error(a.submit(|| ()), "work 2 of stream 1 panicked: bad address 0x40");
}

#[test]
fn later_submissions_are_refused_until_a_reset() {
    let (worker, log) = (worker(), Log::new());
    let (stream, event) = (worker.default_stream(), worker.create_event());
    assert_eq!(stream.failure(), Ok(None));
    stream.submit(|| panic!("first")).unwrap();
    let error = poisoned(&stream, 1, "first");
    assert_eq!(stream.synchronize(), Err(error.clone()));
    assert_eq!(stream.synchronize(), Ok(())); // returned once
    assert_eq!(stream.failure(), Ok(Some(error.clone()))); // and still there
    assert_eq!(stream.submit(|| ()), Err(error.clone()));
    assert_eq!(stream.submit_returning(|| ()).map(|_| ()), Err(error.clone()));
    assert_eq!(event.record(&stream), Err(error.clone()));
    assert_eq!(worker.create_timed_event().record(&stream), Err(error.clone()));
    assert_eq!(event.wait(&stream), Err(error.clone()));
    assert_eq!(worker.create_signal().wait(&stream), Err(error.clone()));
    assert_eq!(worker.wait_stream(DEFAULT, DEFAULT), Err(error));
    worker.reset(DEFAULT).unwrap();
    assert_eq!(stream.failure(), Ok(None));
    assert_eq!(stream.submit(log.work(2)), Ok(Ticket(2)));
    assert_eq!((stream.synchronize(), log.entries()), (Ok(()), vec![2]));
    stream.submit(|| panic!("second")).unwrap();
    assert_eq!(stream.synchronize(), Err(poisoned(&stream, 3, "second")));
}

/// Holds the thread that drops it until it is told to go on.
struct HoldsAsItDrops {
    entered: Sender<()>,
    opened: Receiver<()>,
}

impl Drop for HoldsAsItDrops {
    fn drop(&mut self) {
        self.entered.send(()).unwrap();
        self.opened.recv().unwrap();
    }
}

#[test]
fn a_reset_does_not_revive_what_was_queued_behind_the_panic() {
    let (worker, log) = (worker(), Log::new());
    let stream = worker.default_stream();
    let ((entered, is_inside), (open, opened)) = (mpsc::channel(), mpsc::channel());
    let held = HoldsAsItDrops { entered, opened };
    let gate = Gate::close(&stream);
    stream.submit(|| panic!("gone")).unwrap();
    stream.submit(move || drop(held)).unwrap();
    stream.submit(log.work("before the reset")).unwrap();
    gate.open();
    is_inside.recv().unwrap(); // one is being dropped, the other is queued
    stream.reset().unwrap();
    stream.submit(log.work("after the reset")).unwrap();
    open.send(()).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(log.entries(), ["after the reset"]);
}

#[test]
fn other_streams_go_on_and_each_failure_is_returned_once() {
    let (worker, log) = (worker(), Log::new());
    let streams = [0, 0, 0].map(|_| worker.create_stream(Priority::DEFAULT).unwrap());
    let gate = Gate::close(&worker.default_stream());
    for stream in [&streams[2], &streams[0]] {
        stream.submit(|| panic!("bad")).unwrap();
    }
    for stream in &streams {
        stream.submit(log.work(stream.id().0)).unwrap();
    }
    gate.open();
    assert_eq!(worker.synchronize_all(), Err(poisoned(&streams[0], 1, "bad")));
    assert_eq!(log.entries(), [2]);
    assert_eq!(worker.synchronize_all(), Err(poisoned(&streams[2], 1, "bad")));
    assert_eq!(worker.synchronize_all(), Ok(()));
    streams[1].synchronize().unwrap();
}

#[test]
fn the_text_of_the_panic_is_bounded() {
    let worker = worker();
    worker.submit(DEFAULT, || panic_any("a".repeat(10_000))).unwrap();
    let error = poisoned(&worker.default_stream(), 1, &"a".repeat(MAX_PANIC_BYTES));
    assert_eq!(worker.synchronize(DEFAULT), Err(error));
}

#[test]
fn a_panic_of_the_hook_poisons_the_stream_it_was_told_of() {
    struct Strict;
    impl Completion for Strict {
        fn submitted(&self, _: StreamId, _: Ticket) {}
        fn completed(&self, _: StreamId, ticket: Ticket) {
            assert!(ticket.0 < 2, "too many");
        }
    }
    let worker = Worker::builder(0).completion(Arc::new(Strict)).start().unwrap();
    let stream = worker.default_stream();
    assert_eq!(stream.submit_returning(|| 1).unwrap().wait(), Ok(1));
    // The work itself ran; its result is lost with the stream.
    let error = poisoned(&stream, 2, "too many");
    assert_eq!(stream.submit_returning(|| 2).unwrap().wait(), Err(error.clone()));
    assert_eq!(stream.synchronize(), Err(error));
}

#[test]
fn panics_at_the_end_of_an_item_end_nothing() {
    struct PanicsAsItDrops;
    impl Drop for PanicsAsItDrops {
        fn drop(&mut self) {
            panic!("in a drop");
        }
    }
    struct PanicsAsItWakes(Mutex<u32>);
    impl Wake for PanicsAsItWakes {
        fn wake(self: Arc<Self>) {
            *self.0.lock().unwrap() += 1;
            panic!("in a waker");
        }
    }
    let worker = worker();
    let [a, b] = [0, 0].map(|_| worker.create_stream(Priority::DEFAULT).unwrap());
    let gate = Gate::close(&a);
    let bell = Arc::new(PanicsAsItWakes(Mutex::new(0)));
    let waker = Waker::from(Arc::clone(&bell));
    let mut result = Box::pin(a.submit_returning(|| PanicsAsItDrops).unwrap());
    assert!(matches!(Future::poll(result.as_mut(), &mut Context::from_waker(&waker)), Poll::Pending));
    // A result that nobody takes is dropped by the worker's thread.
    drop(b.submit_returning(|| PanicsAsItDrops).unwrap());
    a.submit(|| panic!("in the work")).unwrap();
    // Dropped unrun, with what it holds.
    let held = PanicsAsItDrops;
    a.submit(move || std::mem::forget(held)).unwrap();
    gate.open();
    assert_eq!(a.synchronize(), Err(poisoned(&a, 3, "in the work")));
    b.synchronize().unwrap();
    assert_eq!(b.submit_returning(|| 1).unwrap().wait(), Ok(1));
    assert_eq!(*bell.0.lock().unwrap(), 1);
    std::mem::forget(std::pin::Pin::into_inner(result).try_get());
}
