//! Work that calls the worker which runs it: asking and submitting is fine, waiting is refused.

use std::sync::Arc;
use std::sync::mpsc;

use neuronx_mem_stream::worker::{Completion, Priority, Worker, WorkerError};
use neuronx_mem_stream::{StreamId, Ticket};

use crate::support::{DEFAULT, Gate, Log, worker};

fn refused(call: &'static str) -> Result<(), WorkerError> {
    Err(WorkerError::WaitInWorker { device: 0, call })
}

/// Runs code on the worker's thread and returns what it returned.
fn inside<R: Send + 'static>(worker: &Arc<Worker>, code: impl FnOnce(&Worker) -> R + Send + 'static) -> R {
    let worker_inside = Arc::clone(worker);
    worker.submit_returning(DEFAULT, move || code(&worker_inside)).unwrap().wait().unwrap()
}

#[test]
fn waiting_inside_work_is_a_typed_error() {
    let worker = Arc::new(worker());
    assert_eq!(inside(&worker, |worker| worker.synchronize(DEFAULT)), refused("synchronize"));
    assert_eq!(inside(&worker, Worker::synchronize_all), refused("synchronize_all"));
    // Another stream too, idle or not: what runs may not depend on how far others have come.
    let other = worker.create_stream(Priority::DEFAULT).unwrap();
    assert_eq!(inside(&worker, move |_| other.synchronize()), refused("synchronize"));
    let event = worker.create_event();
    assert_eq!(inside(&worker, move |_| event.synchronize()), refused("Event::synchronize"));
    let wait = |worker: &Worker| worker.submit_returning(DEFAULT, || ()).unwrap().wait();
    assert_eq!(inside(&worker, wait), refused("Pending::wait"));
    let message = refused("synchronize").unwrap_err().to_string();
    assert_eq!(message, "`synchronize` would wait for the worker of device 0 on its own thread");
    worker.synchronize_all().unwrap();
}

#[test]
fn work_may_ask_and_submit() {
    let worker = Arc::new(worker());
    let log = Log::new();
    let inner = log.clone();
    let answer = inside(&worker, move |worker| {
        worker.submit(DEFAULT, inner.work("submitted inside")).unwrap();
        let other = worker.create_stream(Priority::DEFAULT).unwrap();
        let mut result = other.submit_returning(|| 1).unwrap();
        (worker.query(DEFAULT), worker.is_idle(), other.query(), result.try_get().is_none())
    });
    assert_eq!(answer, (Ok(false), Ok(false), Ok(false), true));
    worker.synchronize_all().unwrap();
    assert_eq!(log.entries(), ["submitted inside"]);
}

#[test]
fn shutting_down_inside_work_ends_the_thread_after_the_queue() {
    struct Told(#[expect(dead_code, reason = "its drop is the message")] mpsc::Sender<()>);
    impl Completion for Told {
        fn submitted(&self, _: StreamId, _: Ticket) {}
        fn completed(&self, _: StreamId, _: Ticket) {}
    }
    for is_dropped in [false, true] {
        let (sender, ended) = mpsc::channel();
        let worker = Worker::builder(0).completion(Arc::new(Told(sender))).start().unwrap();
        let (stream, log) = (worker.default_stream(), Log::new());
        let gate = Gate::close(&stream);
        let result = stream.submit_returning(move || {
            if is_dropped {
                drop(worker);
                return refused("shutdown");
            }
            worker.shutdown()
        });
        stream.submit(log.work("queued before")).unwrap();
        gate.open();
        assert_eq!(result.unwrap().wait(), Ok(refused("shutdown")));
        assert_eq!(stream.submit(|| ()), Err(WorkerError::ShutDown { device: 0 }));
        drop(stream);
        // The thread held the hook; there is nobody left who does.
        assert!(ended.recv().is_err());
        assert_eq!(log.entries(), ["queued before"]);
    }
}
