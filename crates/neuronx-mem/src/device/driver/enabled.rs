//! The device's worker: a thread that runs submitted work in stream order and, as work completes,
//! the deallocations behind it. The order is the worker's; what a deallocation does is the queue's.

use std::sync::{Arc, OnceLock, Weak};

use neuronx_mem_stream::worker::{Completion, Event, Pending, Priority, Worker, WorkerError};
use neuronx_mem_stream::{StreamId, Ticket};

use crate::device::{Device, Shared};
use crate::{AllocError, Block, Stream};

/// The worker, once it has been started.
#[derive(Debug)]
pub(in crate::device) struct Driver {
    worker: OnceLock<Worker>,
}

impl Driver {
    pub(in crate::device) fn new() -> Self {
        Self { worker: OnceLock::new() }
    }

    pub(in crate::device) fn is_driving(&self) -> bool {
        self.worker.get().is_some()
    }

    /// Submits empty work to the worker; `None` without one.
    pub(in crate::device) fn submit(&self, stream: StreamId) -> Option<Result<Ticket, AllocError>> {
        Some(self.worker.get()?.submit(stream, || {}).map_err(AllocError::from))
    }

    /// Waits for a stream's work; `None` without a worker.
    pub(in crate::device) fn wait_for_stream(&self, stream: StreamId) -> Option<Result<(), AllocError>> {
        Some(self.worker.get()?.synchronize(stream).map_err(AllocError::from))
    }

    /// Waits for all work; `None` without a worker.
    pub(in crate::device) fn wait_for_device(&self) -> Option<Result<(), AllocError>> {
        Some(self.worker.get()?.synchronize_all().map_err(AllocError::from))
    }
}

/// Moves the queue's cursors as the worker goes. Weak: work may outlive the device.
struct Cursors {
    shared: Weak<Shared>,
}

impl Cursors {
    /// The device, where something watches it: otherwise waits need not take its lock.
    fn watched(&self) -> Option<Arc<Shared>> {
        self.shared.upgrade().filter(|shared| shared.settings.is_watched())
    }
}

impl Completion for Cursors {
    fn submitted(&self, stream: StreamId, ticket: Ticket) {
        let Some(shared) = self.shared.upgrade() else { return };
        let submitted = shared.state.lock().queue.submit(stream);
        debug_assert_eq!(submitted, Ok(ticket), "worker and queue count alike");
    }

    fn completed(&self, stream: StreamId, ticket: Ticket) {
        let Some(shared) = self.shared.upgrade() else { return };
        let result = shared.state.lock().run_to(stream, ticket);
        if let Err(error) = result {
            tracing::error!(%error, "the worker completed work that the queue does not know");
        }
        shared.settle_freed();
    }

    fn waited(&self, stream: StreamId, ticket: Ticket) {
        if let Some(shared) = self.watched() {
            shared.state.lock().watch.host_waited(stream, ticket);
        }
    }

    fn ordered(&self, waiting: StreamId, awaited: StreamId, ticket: Ticket) {
        if let Some(shared) = self.watched() {
            shared.state.lock().stream_waits(waiting, awaited, ticket);
        }
    }
}

impl Device {
    /// Starts the worker; once, when the device is made.
    pub(crate) fn start_worker(&self) -> Result<(), WorkerError> {
        let cursors = Cursors { shared: Arc::downgrade(&self.shared) };
        let settings = self.shared.settings;
        let worker = Worker::builder(self.shared.id.0)
            .enable_streams(settings.are_streams_enabled)
            .launch_blocking(settings.is_blocking)
            .completion(Arc::new(cursors))
            .start()?;
        // Nobody else has the device yet, so there is no other worker to lose.
        let _ = self.shared.driver.worker.set(worker);
        Ok(())
    }

    /// Makes a stream of a priority: a new one while the worker's pool has room, then one of the
    /// pool in turn.
    ///
    /// # Errors
    ///
    /// [`AllocError::NoWorker`] without a worker, [`AllocError::Worker`] from it.
    pub fn new_stream_with_priority(&self, priority: Priority) -> Result<Stream, AllocError> {
        let id = self.worker()?.create_stream(priority)?.id();
        let mut state = self.shared.state.lock();
        while state.queue.n_streams() <= id.0 {
            state.queue.add_stream()?;
        }
        drop(state);
        Ok(Stream::new(self.clone(), id))
    }

    /// Makes an event that keeps the time of its recordings.
    ///
    /// # Errors
    ///
    /// As for [`new_stream_with_priority`](Self::new_stream_with_priority).
    pub fn new_timed_event(&self) -> Result<Event, AllocError> {
        Ok(self.worker()?.create_timed_event())
    }

    /// Makes an event without time.
    ///
    /// # Errors
    ///
    /// As for [`new_stream_with_priority`](Self::new_stream_with_priority).
    pub fn new_event(&self) -> Result<Event, AllocError> {
        Ok(self.worker()?.create_event())
    }

    /// The worker itself.
    ///
    /// # Errors
    ///
    /// [`AllocError::NoWorker`].
    pub fn worker(&self) -> Result<&Worker, AllocError> {
        self.shared.driver.worker.get().ok_or(AllocError::NoWorker)
    }
}

impl Stream {
    /// Queues work. It runs on the device's worker, after all that was submitted to this stream
    /// before.
    ///
    /// # Errors
    ///
    /// [`AllocError::NoWorker`] without a worker; [`AllocError::Worker`] when the stream is poisoned
    /// by work that panicked, or the process is a fork.
    pub fn run(&self, work: impl FnOnce() + Send + 'static) -> Result<Ticket, AllocError> {
        Ok(self.device().worker()?.submit(self.id(), work)?)
    }

    /// Queues an allocation, which runs in stream order: frees that were submitted before it have
    /// run by then.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run). The allocation's own error is in the result.
    pub fn allocate_async(&self, bytes: u64) -> Result<Pending<Result<Block, AllocError>>, AllocError> {
        let stream = self.clone();
        let work = move || stream.device().allocate(bytes, &stream);
        Ok(self.device().worker()?.submit_returning(self.id(), work)?)
    }

    /// Lets this stream wait for all that was submitted to `other` so far.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    pub fn wait_stream(&self, other: &Self) -> Result<(), AllocError> {
        Ok(self.device().worker()?.wait_stream(self.id(), other.id())?)
    }

    /// Records an event behind all that was submitted to this stream so far.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    pub fn record_event(&self, event: &Event) -> Result<(), AllocError> {
        Ok(event.record(&self.device().worker()?.stream(self.id())?)?)
    }

    /// Lets this stream wait for an event.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    pub fn wait_event(&self, event: &Event) -> Result<(), AllocError> {
        Ok(event.wait(&self.device().worker()?.stream(self.id())?)?)
    }
}
