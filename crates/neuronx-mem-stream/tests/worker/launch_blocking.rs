//! `NEURON_LAUNCH_BLOCKING=1`: a submission completes before its call returns.

use std::sync::Arc;

use neuronx_mem_stream::Ticket;
use neuronx_mem_stream::worker::{Priority, Worker, WorkerError};

use crate::support::{DEFAULT, Log, Owner};

fn worker(owner: &Arc<Owner>) -> Worker {
    Worker::builder(0).launch_blocking(true).completion(Arc::<Owner>::clone(owner)).start().unwrap()
}

#[test]
fn a_submission_completes_before_the_call_returns() {
    let owner = Owner::new();
    let (worker, log) = (worker(&owner), Log::new());
    let stream = worker.create_stream(Priority::DEFAULT).unwrap();
    for number in 0..100 {
        stream.submit(log.work(number)).unwrap();
        assert_eq!((log.entries().last(), stream.query()), (Some(&number), Ok(true)));
        owner.free(number, &stream, &[]);
        assert_eq!(owner.reusable().last(), Some(&number)); // idle: at once
    }
    assert_eq!(stream.submit_returning(|| 5).unwrap().try_get(), Some(Ok(5)));
    let event = worker.create_timed_event();
    event.record(&stream).unwrap();
    assert_eq!(event.query(), Ok(true));
}

#[test]
fn a_panic_is_returned_by_the_submission() {
    let worker = worker(&Owner::new());
    let error = WorkerError::StreamPoisoned { stream: DEFAULT, ticket: Ticket(1), message: "bad".to_owned() };
    assert_eq!(worker.submit(DEFAULT, || panic!("bad")), Err(error.clone()));
    assert_eq!(worker.synchronize(DEFAULT), Ok(())); // the submission was told
    assert_eq!(worker.submit(DEFAULT, || ()), Err(error));
}

#[test]
fn a_signal_is_waited_for_by_the_next_work() {
    let worker = worker(&Owner::new());
    let (stream, signal) = (worker.default_stream(), worker.create_signal());
    signal.wait(&stream).unwrap();
    assert_eq!(stream.query(), Ok(false));
    signal.set().unwrap();
    stream.submit(|| ()).unwrap();
    assert_eq!(stream.query(), Ok(true));
}

#[test]
fn work_may_not_submit_work() {
    let worker = worker(&Owner::new());
    let stream = worker.default_stream();
    let result = worker.submit_returning(DEFAULT, move || stream.submit(|| ())).unwrap().wait().unwrap();
    assert_eq!(result, Err(WorkerError::WaitInWorker { device: 0, call: "submit" }));
}
