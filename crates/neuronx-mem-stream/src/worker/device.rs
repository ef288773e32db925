//! The worker of one device, as its owner holds it. Knows the thread and ends it.

use std::sync::Arc;

use super::run::run;
use super::shared::Shared;
use super::sync::{self, JoinHandle};
use super::{Event, Pending, Priority, Signal, Stream, WorkerBuilder, WorkerError};
use crate::{StreamId, Ticket};

/// One thread that runs the work of one device, each stream in its order.
///
/// Among the streams that can go on, the highest priority goes first, then the work that was
/// submitted first. Dropping the worker is [`shutdown`](Self::shutdown) without the answer.
#[derive(Debug)]
pub struct Worker {
    shared: Arc<Shared>,
    /// Taken when the thread is joined or left to itself.
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Settings for the worker of a device, by its ordinal.
    pub fn builder(device: u32) -> WorkerBuilder {
        WorkerBuilder::new(device)
    }

    pub(super) fn start(shared: Arc<Shared>) -> Result<Self, WorkerError> {
        let device = shared.settings.device;
        let of_thread = Arc::clone(&shared);
        let thread = sync::spawn(format!("neuron-worker-{device}"), move || run(&of_thread))
            .map_err(|error| WorkerError::ThreadNotStarted { device, message: error.to_string() })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// The device ordinal.
    #[must_use]
    pub fn device(&self) -> u32 {
        self.shared.settings.device
    }

    /// Stream 0, which every device has, with the default priority.
    #[must_use]
    pub fn default_stream(&self) -> Stream {
        Stream::new(Arc::clone(&self.shared), StreamId::DEFAULT, Priority::DEFAULT)
    }

    /// A stream of the pool: a new one while the pool has room, then those of that priority in
    /// turn, or all in turn when none has it. The default stream when streams are off.
    ///
    /// # Errors
    ///
    /// [`WorkerError::Forked`].
    pub fn create_stream(&self, priority: Priority) -> Result<Stream, WorkerError> {
        let mut state = self.shared.state()?;
        let settings = &self.shared.settings;
        let pool_size = if settings.is_streams_enabled { settings.stream_pool_size } else { 0 };
        let id = state.create_stream(priority, pool_size);
        let priority = state.lane(id)?.priority;
        Ok(Stream::new(Arc::clone(&self.shared), id, priority))
    }

    /// The stream of a number; the default one, whatever the number, when streams are off.
    ///
    /// # Errors
    ///
    /// [`WorkerError::Stream`] when the number was never handed out, [`WorkerError::Forked`].
    pub fn stream(&self, stream: StreamId) -> Result<Stream, WorkerError> {
        let stream = self.shared.resolve(stream);
        let priority = self.shared.state()?.lane(stream)?.priority;
        Ok(Stream::new(Arc::clone(&self.shared), stream, priority))
    }

    /// How many streams there are by now, the default one included.
    ///
    /// # Errors
    ///
    /// [`WorkerError::Forked`].
    pub fn n_streams(&self) -> Result<u32, WorkerError> {
        Ok(self.shared.state()?.n_streams())
    }

    /// A mark to record in streams, without time.
    #[must_use]
    pub fn create_event(&self) -> Event {
        Event::new(Arc::clone(&self.shared), false)
    }

    /// A mark that notes when it is reached.
    #[must_use]
    pub fn create_timed_event(&self) -> Event {
        Event::new(Arc::clone(&self.shared), true)
    }

    /// A bit for the host to set and streams to wait for.
    #[must_use]
    pub fn create_signal(&self) -> Signal {
        Signal::new(Arc::clone(&self.shared))
    }

    /// Queues work; see [`Stream::submit`].
    ///
    /// # Errors
    ///
    /// As there, and [`WorkerError::Stream`] for an unknown stream.
    pub fn submit(
        &self,
        stream: StreamId,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<Ticket, WorkerError> {
        self.handle(stream).submit(work)
    }

    /// Queues work that has a result; see [`Stream::submit_returning`].
    ///
    /// # Errors
    ///
    /// As there, and [`WorkerError::Stream`] for an unknown stream.
    pub fn submit_returning<R: Send + 'static>(
        &self,
        stream: StreamId,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Result<Pending<R>, WorkerError> {
        self.handle(stream).submit_returning(work)
    }

    /// Lets later work of `waiting` wait for all that was submitted to `awaited` so far.
    ///
    /// # Errors
    ///
    /// As [`Stream::wait_stream`], and [`WorkerError::Stream`] for an unknown stream.
    pub fn wait_stream(&self, waiting: StreamId, awaited: StreamId) -> Result<(), WorkerError> {
        self.handle(waiting).wait_stream(&self.handle(awaited))
    }

    /// Waits for all work submitted to a stream so far, and returns what its work has failed with
    /// since the last such call; see [`Stream::synchronize`].
    ///
    /// # Errors
    ///
    /// As there, and [`WorkerError::Stream`] for an unknown stream.
    pub fn synchronize(&self, stream: StreamId) -> Result<(), WorkerError> {
        self.handle(stream).synchronize()
    }

    /// Waits for all work submitted to any stream so far.
    ///
    /// # Errors
    ///
    /// [`WorkerError::StreamPoisoned`]: the failure of the lowest stream that no call has returned
    /// yet; those of others are left for later calls. [`WorkerError::WaitInWorker`],
    /// [`WorkerError::Forked`].
    pub fn synchronize_all(&self) -> Result<(), WorkerError> {
        self.shared.check_may_wait("synchronize_all")?;
        let positions = self.shared.state()?.ends();
        let failure = self.shared.wait_for(&positions).report_failure();
        self.shared.tell_waited(&positions);
        failure.map_or(Ok(()), Err)
    }

    /// Whether all work submitted to a stream has completed.
    ///
    /// # Errors
    ///
    /// [`WorkerError::Stream`] for an unknown stream, [`WorkerError::Forked`].
    pub fn query(&self, stream: StreamId) -> Result<bool, WorkerError> {
        self.handle(stream).query()
    }

    /// Whether all work submitted to the device has completed.
    ///
    /// # Errors
    ///
    /// [`WorkerError::Forked`].
    pub fn is_idle(&self) -> Result<bool, WorkerError> {
        let state = self.shared.state()?;
        let (is_idle, positions) = (state.is_idle(), state.ends());
        drop(state);
        if is_idle {
            self.shared.tell_waited(&positions);
        }
        Ok(is_idle)
    }

    /// Lets a poisoned stream take work again; see [`Stream::reset`].
    ///
    /// # Errors
    ///
    /// [`WorkerError::Stream`] for an unknown stream, [`WorkerError::Forked`].
    pub fn reset(&self, stream: StreamId) -> Result<(), WorkerError> {
        self.handle(stream).reset()
    }

    /// Takes no more work, runs what is queued, and ends the thread.
    ///
    /// Signals that are not set count as set, so this ends as soon as the queued work does.
    ///
    /// # Errors
    ///
    /// [`WorkerError::StreamPoisoned`]: the failure of the lowest stream that no call has returned
    /// yet. [`WorkerError::WaitInWorker`] on the worker's own thread, which then ends by itself
    /// after the queued work. [`WorkerError::Forked`] in a child, where there is no thread.
    pub fn shutdown(mut self) -> Result<(), WorkerError> {
        self.end("shutdown")?;
        self.shared.state()?.report_failure().map_or(Ok(()), Err)
    }

    /// A handle for one call, which checks the number itself. Its priority is never looked at.
    fn handle(&self, stream: StreamId) -> Stream {
        Stream::new(Arc::clone(&self.shared), self.shared.resolve(stream), Priority::DEFAULT)
    }

    fn end(&mut self, call: &'static str) -> Result<(), WorkerError> {
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        if let Err(error) = self.shared.check_process() {
            // The thread is the parent's. Even letting go of it would ask the system about it.
            std::mem::forget(thread);
            return Err(error);
        }
        self.shared.shut_down();
        self.shared.check_may_wait(call)?;
        if thread.join().is_err() {
            tracing::error!(device = self.device(), "the worker's thread panicked");
        }
        Ok(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // There is nobody to tell: a panic was logged when it happened.
        let _ = self.end("drop");
    }
}
