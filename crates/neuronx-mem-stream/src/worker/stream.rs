//! A handle to one stream. Knows its number and its worker; all state is the worker's.

use std::sync::Arc;

use super::item::{Item, Plain, Task};
use super::pending::{ResultCell, Returning};
use super::shared::Shared;
use super::{Pending, Priority, WorkerError};
use crate::{StreamId, Ticket};

/// One stream of a worker. Clones are the same stream; a handle may outlive the worker and is
/// refused then.
#[derive(Clone, Debug)]
pub struct Stream {
    shared: Arc<Shared>,
    id: StreamId,
    priority: Priority,
}

impl Stream {
    pub(super) fn new(shared: Arc<Shared>, id: StreamId, priority: Priority) -> Self {
        Self { shared, id, priority }
    }

    /// The number of the stream, from 0 for the default one.
    #[must_use]
    pub fn id(&self) -> StreamId {
        self.id
    }

    /// The device ordinal.
    #[must_use]
    pub fn device(&self) -> u32 {
        self.shared.settings.device
    }

    /// The priority that the stream has, which is not the one asked for when the pool is full and
    /// holds none of that.
    #[must_use]
    pub fn priority(&self) -> Priority {
        self.priority
    }

    /// Queues work behind all that was submitted to the stream. Returns at once, unless launches
    /// block.
    ///
    /// # Errors
    ///
    /// [`WorkerError::StreamPoisoned`], [`WorkerError::ShutDown`], [`WorkerError::Forked`];
    /// [`WorkerError::WaitInWorker`] on the worker's thread when launches block.
    pub fn submit(&self, work: impl FnOnce() + Send + 'static) -> Result<Ticket, WorkerError> {
        self.submit_task(Box::new(Plain(Some(work))))
    }

    /// Queues work that has a result, such as an allocation.
    ///
    /// # Errors
    ///
    /// As [`submit`](Self::submit).
    pub fn submit_returning<R: Send + 'static>(
        &self,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Result<Pending<R>, WorkerError> {
        let cell = Arc::new(ResultCell::new());
        let task = Returning { work: Some(work), value: None, cell: Arc::clone(&cell) };
        let ticket = self.submit_task(Box::new(task))?;
        Ok(Pending::new(Arc::clone(&self.shared), cell, self.id, ticket))
    }

    /// Lets later work of this stream wait for all that was submitted to `awaited` so far. Waits
    /// for nothing itself.
    ///
    /// # Errors
    ///
    /// As [`submit`](Self::submit), and [`WorkerError::OtherWorker`]. That `awaited` is poisoned
    /// is no error.
    pub fn wait_stream(&self, awaited: &Self) -> Result<(), WorkerError> {
        self.check_worker(&awaited.shared, "stream")?;
        let position = self.shared.state()?.end_of(awaited.id)?;
        self.shared.order(self.id, position)
    }

    /// Waits for all work submitted to the stream so far.
    ///
    /// # Errors
    ///
    /// [`WorkerError::StreamPoisoned`] from the first such call after a panic on the stream;
    /// [`WorkerError::WaitInWorker`], [`WorkerError::Forked`].
    pub fn synchronize(&self) -> Result<(), WorkerError> {
        self.shared.check_may_wait("synchronize")?;
        let position = self.shared.state()?.end_of(self.id)?;
        let failure = self.shared.wait_for(&[position]).lane_mut(self.id)?.report_failure();
        self.shared.tell_waited(&[position]);
        failure.map_or(Ok(()), Err)
    }

    /// Whether all work submitted to the stream has completed. Says nothing about failures.
    ///
    /// # Errors
    ///
    /// [`WorkerError::Forked`].
    pub fn query(&self) -> Result<bool, WorkerError> {
        let state = self.shared.state()?;
        let is_idle = state.lane(self.id)?.is_idle();
        let position = state.end_of(self.id)?;
        drop(state);
        if is_idle {
            self.shared.tell_waited(&[position]);
        }
        Ok(is_idle)
    }

    /// The error that the stream is poisoned with, whether or not a call has returned it.
    ///
    /// # Errors
    ///
    /// [`WorkerError::Forked`].
    pub fn failure(&self) -> Result<Option<WorkerError>, WorkerError> {
        Ok(self.shared.state()?.lane(self.id)?.failure().cloned())
    }

    /// Lets a poisoned stream take work again. What was queued when it was poisoned stays dropped;
    /// a failure that nobody was told of is forgotten.
    ///
    /// # Errors
    ///
    /// [`WorkerError::Forked`].
    pub fn reset(&self) -> Result<(), WorkerError> {
        self.shared.state()?.lane_mut(self.id)?.reset();
        Ok(())
    }

    /// Refuses something that belongs to another worker than this stream.
    pub(super) fn check_worker(&self, other: &Arc<Shared>, what: &'static str) -> Result<(), WorkerError> {
        if Arc::ptr_eq(&self.shared, other) {
            return Ok(());
        }
        let (owner, user) = (other.settings.device, self.device());
        Err(WorkerError::OtherWorker { what, owner, user })
    }

    fn submit_task(&self, task: Box<dyn Task>) -> Result<Ticket, WorkerError> {
        let ticket = self.shared.submit(self.id, Item::Task(task))?;
        // A task is always queued.
        Ok(ticket.unwrap_or(Ticket(0)))
    }
}
