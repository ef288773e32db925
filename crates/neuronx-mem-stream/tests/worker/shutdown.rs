//! The end: everything queued runs, nothing new is taken, and nobody hangs.

use std::thread;

use neuronx_mem_stream::Ticket;
use neuronx_mem_stream::worker::{Priority, WorkerError};

use crate::support::{DEFAULT, Gate, Log, Owner, check_error, worker, worker_of};

#[test]
fn shutdown_drains_every_stream() {
    let owner = Owner::new();
    let (worker, log) = (worker_of(&owner), Log::new());
    let streams = [0, 1, 2].map(|level| worker.create_stream(Priority::new(level).unwrap()).unwrap());
    let gate = Gate::close(&worker.default_stream());
    for number in 0..300 {
        let stream = &streams[number as usize % 3];
        stream.submit(log.work(number)).unwrap();
        owner.free(number, stream, &[&streams[0]]);
    }
    gate.open();
    worker.shutdown().unwrap();
    let mut ran = log.entries();
    ran.sort_unstable();
    assert_eq!(ran, (0..300).collect::<Vec<_>>());
    assert_eq!((owner.n_pending(), owner.reusable().len()), (0, 300));
}

#[test]
fn dropping_the_worker_drains_too() {
    let (worker, log) = (worker(), Log::new());
    let gate = Gate::close(&worker.default_stream());
    for number in 0..100 {
        worker.submit(DEFAULT, log.work(number)).unwrap();
    }
    gate.open();
    drop(worker);
    assert_eq!(log.entries(), (0..100).collect::<Vec<_>>());
}

#[test]
fn submission_after_shutdown_is_a_typed_error() {
    let worker = worker();
    let (stream, event, signal) = (worker.default_stream(), worker.create_event(), worker.create_signal());
    let mut result = stream.submit_returning(|| 1).unwrap();
    worker.shutdown().unwrap();
    let ended = WorkerError::ShutDown { device: 0 };
    check_error(stream.submit(|| ()), "the worker of device 0 has been shut down");
    assert_eq!(event.record(&stream), Err(ended.clone()));
    assert_eq!(event.wait(&stream), Err(ended.clone()));
    assert_eq!(signal.wait(&stream), Err(ended.clone()));
    assert_eq!(stream.wait_stream(&stream), Err(ended));
    // What asks or waits still gets its answer.
    assert_eq!((stream.query(), stream.synchronize(), event.query()), (Ok(true), Ok(()), Ok(true)));
    assert_eq!(result.try_get(), Some(Ok(1)));
}

#[test]
fn a_stream_that_waits_for_the_host_does_not_hang_the_end() {
    let owner = Owner::new();
    let (worker, log) = (worker_of(&owner), Log::new());
    let [a, b] = [0, 0].map(|_| worker.create_stream(Priority::DEFAULT).unwrap());
    let signals = [worker.create_signal(), worker.create_signal()];
    signals[0].wait(&a).unwrap();
    a.submit(log.work("a")).unwrap();
    b.wait_stream(&a).unwrap();
    signals[1].wait(&b).unwrap();
    b.submit(log.work("b")).unwrap();
    owner.free(1, &a, &[&b]);
    worker.shutdown().unwrap();
    assert_eq!((log.entries(), owner.reusable()), (vec!["a", "b"], vec![1]));
    signals[0].set().unwrap(); // too late, and harmless
}

#[test]
fn shutdown_returns_a_failure_that_nobody_was_told_of() {
    let error = |ticket| WorkerError::StreamPoisoned {
        stream: DEFAULT,
        ticket: Ticket(ticket),
        message: "bad".to_owned(),
    };
    let untold = worker();
    untold.submit(DEFAULT, || panic!("bad")).unwrap();
    assert_eq!(untold.shutdown(), Err(error(1)));
    let told = worker();
    told.submit(DEFAULT, || panic!("bad")).unwrap();
    assert_eq!(told.synchronize(DEFAULT), Err(error(1)));
    assert_eq!(told.shutdown(), Ok(()));
}

#[test]
fn submissions_that_race_with_the_end_either_run_or_are_refused() {
    let owner = Owner::new();
    let (worker, log) = (worker_of(&owner), Log::new());
    let streams = [0, 0, 0].map(|_| worker.create_stream(Priority::DEFAULT).unwrap());
    let accepted: usize = thread::scope(|scope| {
        let submitters: Vec<_> = streams
            .iter()
            .map(|stream| {
                let log = &log;
                scope.spawn(move || (0..).take_while(|n| stream.submit(log.work(*n)).is_ok()).count())
            })
            .collect();
        worker.shutdown().unwrap();
        submitters.into_iter().map(|submitter| submitter.join().unwrap()).sum()
    });
    assert_eq!((log.entries().len(), owner.completed().len()), (accepted, accepted));
}
