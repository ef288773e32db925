//! Results that come in stream order, waited for in every way.

use std::thread;

use neuronx_mem_stream::Ticket;
use neuronx_mem_stream::worker::{Priority, WorkerError};

use crate::support::{DEFAULT, Gate, block_on, worker};

#[test]
fn a_result_is_there_when_the_work_and_all_before_it_has_completed() {
    let worker = worker();
    let stream = worker.create_stream(Priority::DEFAULT).unwrap();
    let gate = Gate::close(&stream);
    let mut result = stream.submit_returning(|| "block").unwrap();
    assert_eq!((result.stream(), result.ticket()), (stream.id(), Ticket(2)));
    assert_eq!(result.try_get(), None);
    gate.open();
    stream.synchronize().unwrap();
    assert_eq!(result.try_get(), Some(Ok("block")));
    let taken = WorkerError::ResultTaken { stream: stream.id(), ticket: Ticket(2) };
    assert_eq!(taken.to_string(), "the result of work 2 of stream 1 was taken before");
    assert_eq!(result.try_get(), Some(Err(taken.clone())));
    assert_eq!(result.wait(), Err(taken));
}

#[test]
fn results_come_in_stream_order() {
    let worker = worker();
    let stream = worker.default_stream();
    let gate = Gate::close(&stream);
    let mut results: Vec<_> = (0..10).map(|n| stream.submit_returning(move || n).unwrap()).collect();
    let event = worker.create_event();
    event.record(&stream).unwrap();
    gate.open();
    // Waiting for one means that all before it are there.
    assert_eq!(results.pop().unwrap().wait(), Ok(9));
    let values: Vec<_> = results.iter_mut().map(|result| result.try_get().unwrap().unwrap()).collect();
    assert_eq!(values, (0..9).collect::<Vec<_>>());
}

#[test]
fn a_result_is_a_future() {
    let worker = worker();
    let stream = worker.default_stream();
    assert_eq!(block_on(stream.submit_returning(|| 1).unwrap()), Ok(1));
    let gate = Gate::close(&stream);
    let results = [1, 2, 3].map(|n| stream.submit_returning(move || n).unwrap());
    let opener = thread::spawn(|| gate.open());
    let sum = block_on(async {
        let mut sum = 0;
        for result in results {
            sum += result.await?;
        }
        Ok::<_, WorkerError>(sum)
    });
    assert_eq!(sum, Ok(6));
    opener.join().unwrap();
}

#[test]
fn a_future_polled_after_its_end_returns_an_error() {
    let worker = worker();
    let mut result = worker.submit_returning(DEFAULT, || 1).unwrap();
    assert_eq!(block_on(&mut result), Ok(1));
    let taken = WorkerError::ResultTaken { stream: DEFAULT, ticket: Ticket(1) };
    assert_eq!(block_on(&mut result), Err(taken));
}

#[test]
fn a_result_that_nobody_waits_for_is_dropped_after_the_work() {
    let worker = worker();
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    drop(worker.submit_returning(DEFAULT, move || sender).unwrap());
    // The result held the only sender.
    assert!(receiver.recv().is_err());
}
