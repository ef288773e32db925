//! The worker's queues: its thread, the hook under the owner's lock, and one or two callers.
//!
//! The checker leaves out nothing that it can tell apart, except that tests named so are bounded to
//! four preemptions an execution: their full space did not end within the time tried. Besides the
//! assertions, it reports every deadlock and lost wake-up.

use std::panic::resume_unwind;
use std::sync::Arc;

use crate::worker::sync::{JoinHandle, Mutex, spawn};
use crate::worker::{Completion, Priority, Stream, Worker, WorkerError};
use crate::{FreeQueue, StreamId, Ticket};

/// Switches away from a thread that could have gone on.
const FOUR_PREEMPTIONS: Option<usize> = Some(4);
const DEFAULT: StreamId = StreamId::DEFAULT;

/// A free queue that follows the worker, under the owner's lock.
struct Owner(Mutex<OwnerState>);

struct OwnerState {
    queue: FreeQueue<u32>,
    reusable: Vec<u32>,
    completed: Vec<(u32, u64)>,
}

impl Owner {
    fn new() -> Arc<Self> {
        let mut queue = FreeQueue::new();
        queue.add_stream().unwrap();
        Arc::new(Self(Mutex::new(OwnerState { queue, reusable: Vec::new(), completed: Vec::new() })))
    }

    fn free(&self, block: u32, stream: StreamId) {
        let mut state = self.0.lock();
        let ready = state.queue.enqueue_free(block, 64, stream, None).unwrap();
        state.reusable.extend(ready);
    }

    fn reusable(&self) -> Vec<u32> {
        self.0.lock().reusable.clone()
    }

    fn completed(&self) -> Vec<(u32, u64)> {
        self.0.lock().completed.clone()
    }
}

impl Completion for Owner {
    fn submitted(&self, stream: StreamId, ticket: Ticket) {
        assert_eq!(self.0.lock().queue.submit(stream), Ok(ticket));
    }

    fn completed(&self, stream: StreamId, ticket: Ticket) {
        let mut state = self.0.lock();
        let OwnerState { queue, reusable, completed } = &mut *state;
        completed.push((stream.0, ticket.0));
        queue.complete(stream, ticket, |block| reusable.push(block)).unwrap();
    }
}

type Log = Arc<Mutex<Vec<u32>>>;

fn work(log: &Log, entry: u32) -> impl FnOnce() + Send + 'static {
    let log = Arc::clone(log);
    move || log.lock().push(entry)
}

fn caller(run: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    spawn("caller".to_owned(), run).unwrap()
}

/// Checks a scenario, given the owner, the worker and a log, in all orders within the bound.
fn check(bound: Option<usize>, scenario: impl Fn(&Arc<Owner>, Worker, &Log) + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = bound;
    builder.check(move || {
        let owner = Owner::new();
        let completion: Arc<dyn Completion> = Arc::<Owner>::clone(&owner);
        let worker = Worker::builder(0).completion(completion).start().unwrap();
        scenario(&owner, worker, &Arc::new(Mutex::new(Vec::new())));
    });
}

#[test]
fn tickets_of_two_submitters_agree_with_the_free_queue_within_four_preemptions() {
    check(FOUR_PREEMPTIONS, |owner, worker, log| {
        let submit = |stream: &Stream, entry| {
            let Ticket(ticket) = stream.submit(work(log, entry)).unwrap();
            (ticket, entry)
        };
        let tickets = Arc::new(Mutex::new(Vec::new()));
        let (stream, of_caller) = (worker.default_stream(), Arc::clone(&tickets));
        let (log_of_caller, owner_of_caller) = (Arc::clone(log), Arc::clone(owner));
        let other = caller(move || {
            let Ticket(ticket) = stream.submit(work(&log_of_caller, 1)).unwrap();
            owner_of_caller.free(1, DEFAULT);
            of_caller.lock().push((ticket, 1));
        });
        let own = submit(&worker.default_stream(), 2);
        owner.free(2, DEFAULT);
        tickets.lock().push(own);
        other.join().unwrap();
        worker.shutdown().unwrap();
        let mut tickets = tickets.lock().clone();
        tickets.sort_unstable();
        let in_order: Vec<u32> = tickets.iter().map(|(_, entry)| *entry).collect();
        assert_eq!(*log.lock(), in_order);
        assert_eq!(owner.completed(), [(0, 1), (0, 2)]);
        let mut reusable = owner.reusable();
        reusable.sort_unstable();
        assert_eq!(reusable, [1, 2]);
    });
}

#[test]
fn whoever_waits_finds_the_deallocation_done_within_four_preemptions() {
    check(FOUR_PREEMPTIONS, |owner, worker, log| {
        let stream = worker.create_stream(Priority::DEFAULT).unwrap();
        stream.submit(work(log, 1)).unwrap();
        let result = stream.submit_returning(|| 7).unwrap();
        owner.free(1, stream.id());
        let owner_of_caller = Arc::clone(owner);
        let other = caller(move || {
            stream.synchronize().unwrap();
            assert_eq!(stream.query(), Ok(true));
            assert_eq!(owner_of_caller.reusable(), [1]);
        });
        assert_eq!(result.wait(), Ok(7));
        assert_eq!((owner.reusable(), log.lock().clone()), (vec![1], vec![1]));
        other.join().unwrap();
        worker.shutdown().unwrap();
    });
}

#[test]
fn a_stream_that_waits_for_another_is_woken_within_four_preemptions() {
    check(FOUR_PREEMPTIONS, |owner, worker, log| {
        let (a, b) = (worker.default_stream(), worker.create_stream(Priority::HIGHEST).unwrap());
        let (signal, event) = (worker.create_signal(), worker.create_event());
        signal.wait(&a).unwrap();
        event.record(&a).unwrap();
        event.wait(&b).unwrap();
        b.submit(work(log, 2)).unwrap();
        let other = caller(move || signal.set().unwrap());
        b.synchronize().unwrap();
        assert_eq!((event.query(), log.lock().clone()), (Ok(true), vec![2]));
        other.join().unwrap();
        worker.shutdown().unwrap();
        assert_eq!(owner.completed()[0], (0, 1));
    });
}

#[test]
fn a_submission_during_a_panic_is_refused_or_dropped_and_completed_within_four_preemptions() {
    check(FOUR_PREEMPTIONS, |owner, worker, log| {
        let stream = worker.default_stream();
        // Without the panic hook, which would print for each of the many orders.
        stream.submit(|| resume_unwind(Box::new("bad"))).unwrap();
        let (log_of_caller, owner_of_caller) = (Arc::clone(log), Arc::clone(owner));
        let other = caller(move || {
            let submitted = stream.submit(work(&log_of_caller, 1));
            owner_of_caller.free(1, DEFAULT);
            assert!(matches!(submitted, Ok(Ticket(2)) | Err(WorkerError::StreamPoisoned { .. })));
        });
        let poisoned = worker.synchronize(DEFAULT).unwrap_err();
        assert_eq!(poisoned.to_string(), "work 1 of stream 0 panicked: bad");
        other.join().unwrap();
        worker.shutdown().unwrap();
        assert_eq!((owner.reusable(), log.lock().clone()), (vec![1], vec![]));
    });
}

#[test]
fn a_submission_during_shutdown_runs_or_is_refused_in_all_orders() {
    check(None, |owner, worker, log| {
        let (stream, log_of_caller) = (worker.default_stream(), Arc::clone(log));
        let accepted = Arc::new(Mutex::new(Vec::new()));
        let of_caller = Arc::clone(&accepted);
        let other = caller(move || {
            for entry in [1, 2] {
                match stream.submit(work(&log_of_caller, entry)) {
                    Ok(Ticket(_)) => of_caller.lock().push(entry),
                    Err(error) => assert_eq!(error, WorkerError::ShutDown { device: 0 }),
                }
            }
        });
        worker.shutdown().unwrap();
        other.join().unwrap();
        assert_eq!(*log.lock(), *accepted.lock());
        assert_eq!(owner.completed().len(), accepted.lock().len());
    });
}

#[test]
fn a_signal_never_set_does_not_hang_the_end_within_four_preemptions() {
    check(FOUR_PREEMPTIONS, |owner, worker, log| {
        let stream = worker.default_stream();
        let signal = worker.create_signal();
        signal.wait(&stream).unwrap();
        stream.submit(work(log, 1)).unwrap();
        let other = caller(move || stream.synchronize().unwrap());
        worker.shutdown().unwrap();
        other.join().unwrap();
        drop(signal);
        assert_eq!((log.lock().clone(), owner.completed()), (vec![1], vec![(0, 1), (0, 2)]));
    });
}
