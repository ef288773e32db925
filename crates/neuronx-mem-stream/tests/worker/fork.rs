//! Calls from a forked child. A real fork needs `unsafe`, which the crate forbids, so the number
//! of the process is what the test says; what a child does to the thread itself is not tested.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use neuronx_mem_stream::worker::{Priority, Worker, WorkerError};

use crate::support::{DEFAULT, ProcessNumber};

const TEXT: &str = "Cannot re-initialize Neuron runtime in forked subprocess. \
                    To use Neuron with multiprocessing, use the 'spawn' start method";

fn forked<T>() -> Result<T, WorkerError> {
    Err(WorkerError::Forked { started_in: 100, called_from: 200 })
}

fn worker() -> (Worker, Arc<ProcessNumber>) {
    let process = Arc::new(ProcessNumber(AtomicU32::new(100)));
    let worker = Worker::builder(0).process(Arc::<ProcessNumber>::clone(&process)).start().unwrap();
    (worker, process)
}

#[test]
fn every_call_of_the_child_is_refused_with_the_documented_text() {
    let (worker, process) = worker();
    let stream = worker.create_stream(Priority::DEFAULT).unwrap();
    let (event, timed) = (worker.create_event(), worker.create_timed_event());
    let (signal, mut result) = (worker.create_signal(), worker.submit_returning(DEFAULT, || 1).unwrap());
    let waited = worker.submit_returning(DEFAULT, || 1).unwrap();
    let awaited = worker.submit_returning(DEFAULT, || 1).unwrap();
    process.0.store(200, Ordering::SeqCst);
    assert_eq!(worker.submit(DEFAULT, || ()).unwrap_err().to_string(), TEXT);
    assert_eq!(worker.submit_returning(DEFAULT, || ()).map(|_| ()), forked());
    assert_eq!(worker.create_stream(Priority::DEFAULT).map(|_| ()), forked());
    assert_eq!(worker.stream(DEFAULT).map(|_| ()), forked());
    assert_eq!((worker.synchronize(DEFAULT), worker.synchronize_all()), (forked(), forked()));
    assert_eq!((worker.query(DEFAULT), worker.is_idle(), worker.n_streams()), (forked(), forked(), forked()));
    assert_eq!((worker.reset(DEFAULT), worker.wait_stream(DEFAULT, DEFAULT)), (forked(), forked()));
    assert_eq!((stream.submit(|| ()), stream.wait_stream(&stream)), (forked(), forked()));
    assert_eq!((stream.query(), stream.synchronize(), stream.failure()), (forked(), forked(), forked()));
    assert_eq!((event.record(&stream), event.wait(&stream)), (forked(), forked()));
    assert_eq!((event.query(), event.synchronize()), (forked(), forked()));
    assert_eq!((timed.record(&stream), timed.elapsed_ns(&timed)), (forked(), forked()));
    assert_eq!((signal.wait(&stream), signal.set()), (forked(), forked()));
    assert_eq!((result.try_get(), waited.wait()), (Some(forked()), forked()));
    assert_eq!(crate::support::block_on(awaited), forked());
    // The parent goes on as if nothing had been.
    process.0.store(100, Ordering::SeqCst);
    assert_eq!(stream.submit_returning(|| 3).unwrap().wait(), Ok(3));
    worker.shutdown().unwrap();
    assert_eq!(result.try_get(), Some(Ok(1)));
}

#[test]
fn the_child_neither_waits_for_the_thread_nor_ends_it() {
    for is_dropped in [false, true] {
        let (worker, process) = worker();
        let stream = worker.default_stream();
        process.0.store(200, Ordering::SeqCst);
        if is_dropped {
            drop(worker);
        } else {
            assert_eq!(worker.shutdown(), forked());
        }
        process.0.store(100, Ordering::SeqCst);
        assert_eq!(stream.submit_returning(|| 3).unwrap().wait(), Ok(3));
    }
}
