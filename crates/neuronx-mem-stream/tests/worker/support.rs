//! What the tests share: gates that hold the worker's thread, logs, a free queue that follows
//! the worker, a clock and a process that the test sets, and a small executor.

use std::fmt::Debug;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use neuronx_mem_stream::worker::{Clock, Completion, ProcessIdentity, Stream, Worker, WorkerError};
use neuronx_mem_stream::{FreeQueue, StreamId, Ticket};

pub(crate) const DEFAULT: StreamId = StreamId::DEFAULT;

/// Work that holds the worker's thread until the gate is opened.
pub(crate) struct Gate {
    open: Sender<()>,
    entered: Receiver<()>,
}

impl Gate {
    /// Submits the work and returns when the thread is inside.
    pub(crate) fn close(stream: &Stream) -> Self {
        let gate = Self::queue(stream);
        gate.entered.recv().unwrap();
        gate
    }

    /// Submits the work and returns at once.
    pub(crate) fn queue(stream: &Stream) -> Self {
        let (open, opened) = mpsc::channel();
        let (enter, entered) = mpsc::channel();
        let hold = move || {
            // Who opens a queued gate does not wait to hear that it was reached.
            let _ = enter.send(());
            opened.recv().unwrap();
        };
        stream.submit(hold).unwrap();
        Self { open, entered }
    }

    pub(crate) fn open(self) {
        self.open.send(()).unwrap();
    }
}

/// What ran, in order.
#[derive(Clone, Debug)]
pub(crate) struct Log<T>(Arc<Mutex<Vec<T>>>);

impl<T: Clone + Send + 'static> Log<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    pub(crate) fn add(&self, entry: T) {
        self.0.lock().unwrap().push(entry);
    }

    /// Work that leaves an entry.
    pub(crate) fn work(&self, entry: T) -> impl FnOnce() + Send + 'static {
        let log = self.clone();
        move || log.add(entry)
    }

    pub(crate) fn entries(&self) -> Vec<T> {
        self.0.lock().unwrap().clone()
    }
}

/// A free queue under its own lock, as the allocator above has one.
pub(crate) struct Owner {
    state: Mutex<OwnerState>,
}

struct OwnerState {
    queue: FreeQueue<u32>,
    reusable: Vec<u32>,
    completed: Vec<(u32, u64)>,
}

impl Owner {
    pub(crate) fn new() -> Arc<Self> {
        let mut queue = FreeQueue::new();
        while queue.n_streams() < 4 {
            queue.add_stream().unwrap();
        }
        let state = OwnerState { queue, reusable: Vec::new(), completed: Vec::new() };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// Frees a block of `owner`'s that `recorded` used too.
    pub(crate) fn free(&self, block: u32, owner: &Stream, recorded: &[&Stream]) {
        let mut state = self.state.lock().unwrap();
        let mut record = None;
        for stream in recorded {
            record = state.queue.record_stream(record, owner.id(), stream.id()).unwrap();
        }
        let ready = state.queue.enqueue_free(block, 64, owner.id(), record).unwrap();
        state.reusable.extend(ready);
    }

    pub(crate) fn reusable(&self) -> Vec<u32> {
        self.state.lock().unwrap().reusable.clone()
    }

    pub(crate) fn n_pending(&self) -> u64 {
        self.state.lock().unwrap().queue.n_pending()
    }

    /// (stream, ticket) in the order in which they completed.
    pub(crate) fn completed(&self) -> Vec<(u32, u64)> {
        self.state.lock().unwrap().completed.clone()
    }
}

impl Completion for Owner {
    fn submitted(&self, stream: StreamId, ticket: Ticket) {
        assert_eq!(self.state.lock().unwrap().queue.submit(stream), Ok(ticket));
    }

    fn completed(&self, stream: StreamId, ticket: Ticket) {
        let mut state = self.state.lock().unwrap();
        let OwnerState { queue, reusable, completed } = &mut *state;
        completed.push((stream.0, ticket.0));
        queue.complete(stream, ticket, |block| reusable.push(block)).unwrap();
    }
}

/// A clock that stands still until work moves it.
#[derive(Default)]
pub(crate) struct VirtualClock(AtomicU64);

impl VirtualClock {
    /// Work that takes that long.
    pub(crate) fn work(self: &Arc<Self>, duration_ns: u64) -> impl FnOnce() + Send + 'static {
        let clock = Arc::clone(self);
        move || {
            clock.0.fetch_add(duration_ns, Ordering::SeqCst);
        }
    }
}

impl Clock for VirtualClock {
    fn now_ns(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// A process number that the test sets.
pub(crate) struct ProcessNumber(pub(crate) AtomicU32);

impl ProcessIdentity for ProcessNumber {
    fn process_id(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

pub(crate) fn worker() -> Worker {
    Worker::builder(0).start().unwrap()
}

pub(crate) fn worker_of(owner: &Arc<Owner>) -> Worker {
    Worker::builder(0).completion(Arc::<Owner>::clone(owner)).start().unwrap()
}

#[track_caller]
pub(crate) fn check_error<T: Debug>(result: Result<T, WorkerError>, expected: &str) {
    assert_eq!(result.unwrap_err().to_string(), expected);
}

/// Runs a future on this thread, blocked while it waits.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Bell(Sender<()>);
    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.0.send(()).unwrap();
        }
    }
    let (ring, rung) = mpsc::channel();
    let waker = Waker::from(Arc::new(Bell(ring)));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        rung.recv().unwrap();
    }
}
