//! The result of work that has not run yet. Knows how to wait for it, with or without an executor.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::WorkerError;
use super::item::Task;
use super::position::Position;
use super::shared::Shared;
use super::sync::{Condvar, Mutex};
use crate::{StreamId, Ticket};

/// A result that comes in stream order, such as an asynchronous allocation.
///
/// It can be seen once the work and all before it on the stream has completed. Dropping this does
/// not cancel the work. As a [`Future`] it needs no particular executor.
///
/// ```
/// use neuronx_mem_stream::StreamId;
/// use neuronx_mem_stream::worker::Worker;
///
/// let worker = Worker::builder(0).start()?;
/// let sum = worker.submit_returning(StreamId::DEFAULT, || 2 + 2)?;
/// assert_eq!(sum.wait(), Ok(4));
/// # Ok::<(), neuronx_mem_stream::worker::WorkerError>(())
/// ```
pub struct Pending<R> {
    shared: Arc<Shared>,
    cell: Arc<ResultCell<R>>,
    stream: StreamId,
    ticket: Ticket,
}

impl<R> Pending<R> {
    pub(super) fn new(
        shared: Arc<Shared>,
        cell: Arc<ResultCell<R>>,
        stream: StreamId,
        ticket: Ticket,
    ) -> Self {
        Self { shared, cell, stream, ticket }
    }

    /// The stream that the work was submitted to.
    #[must_use]
    pub fn stream(&self) -> StreamId {
        self.stream
    }

    /// The number of the work on its stream.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Waits for the result.
    ///
    /// # Errors
    ///
    /// [`WorkerError::StreamPoisoned`] when the work or one before it panicked,
    /// [`WorkerError::WaitInWorker`], [`WorkerError::Forked`], [`WorkerError::ResultTaken`].
    pub fn wait(self) -> Result<R, WorkerError> {
        self.shared.check_may_wait("Pending::wait")?;
        let mut slot = self.cell.slot.lock();
        loop {
            if let Some(result) = slot.take(self.stream, self.ticket) {
                drop(slot);
                self.tell_waited();
                return result;
            }
            slot = self.cell.is_settled.wait(slot);
        }
    }

    /// The result if it is there, which it is to one call only. Waits for nothing.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait), but allowed on the worker's thread.
    pub fn try_get(&mut self) -> Option<Result<R, WorkerError>> {
        if let Err(error) = self.shared.check_process() {
            return Some(Err(error));
        }
        let result = self.cell.slot.lock().take(self.stream, self.ticket);
        if result.is_some() {
            self.tell_waited();
        }
        result
    }

    fn tell_waited(&self) {
        self.shared.tell_waited(&[Position { stream: self.stream, ticket: self.ticket }]);
    }
}

impl<R> Future for Pending<R> {
    type Output = Result<R, WorkerError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Err(error) = self.shared.check_process() {
            return Poll::Ready(Err(error));
        }
        // A waker is foreign code: neither its clone nor its drop may run under the lock.
        let waker = context.waker().clone();
        let mut slot = self.cell.slot.lock();
        if let Some(result) = slot.take(self.stream, self.ticket) {
            drop(slot);
            drop(waker);
            self.tell_waited();
            return Poll::Ready(result);
        }
        let replaced = slot.waker.replace(waker);
        drop(slot);
        drop(replaced);
        Poll::Pending
    }
}

impl<R> fmt::Debug for Pending<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (stream, ticket) = (self.stream, self.ticket);
        f.debug_struct("Pending").field("stream", &stream).field("ticket", &ticket).finish_non_exhaustive()
    }
}

/// Where the worker's thread leaves a result.
pub(super) struct ResultCell<R> {
    slot: Mutex<Slot<R>>,
    is_settled: Condvar,
}

struct Slot<R> {
    content: Content<R>,
    waker: Option<Waker>,
}

enum Content<R> {
    Unsettled,
    Settled(Result<R, WorkerError>),
    Taken,
}

impl<R> ResultCell<R> {
    pub(super) fn new() -> Self {
        let slot = Slot { content: Content::Unsettled, waker: None };
        Self { slot: Mutex::new(slot), is_settled: Condvar::new() }
    }

    fn settle(&self, result: Result<R, WorkerError>) -> Option<Waker> {
        let mut slot = self.slot.lock();
        slot.content = Content::Settled(result);
        let waker = slot.waker.take();
        drop(slot);
        self.is_settled.notify_all();
        waker
    }
}

impl<R> Slot<R> {
    fn take(&mut self, stream: StreamId, ticket: Ticket) -> Option<Result<R, WorkerError>> {
        if matches!(self.content, Content::Unsettled) {
            return None;
        }
        match std::mem::replace(&mut self.content, Content::Taken) {
            Content::Settled(result) => Some(result),
            Content::Taken | Content::Unsettled => Some(Err(WorkerError::ResultTaken { stream, ticket })),
        }
    }
}

/// Code with a result.
pub(super) struct Returning<F, R> {
    pub(super) work: Option<F>,
    pub(super) value: Option<R>,
    pub(super) cell: Arc<ResultCell<R>>,
}

impl<F: FnOnce() -> R + Send, R: Send> Task for Returning<F, R> {
    fn run(&mut self) {
        self.value = self.work.take().map(|work| work());
    }

    fn discard(&mut self) {
        self.work = None;
    }

    fn settle(&mut self, outcome: Result<(), WorkerError>) -> Option<Waker> {
        match (outcome, self.value.take()) {
            (Ok(()), Some(value)) => self.cell.settle(Ok(value)),
            (Err(error), value) => {
                // The hook panicked after the work had run. The value's own drop waits for that
                // of the task, which is outside the lock.
                self.value = value;
                self.cell.settle(Err(error))
            }
            // Neither run nor doomed: the worker never does that to a task.
            (Ok(()), None) => None,
        }
    }
}
