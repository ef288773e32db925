//! What the worker's thread and all handles share: one state under one lock, and the order in
//! which that lock, the submission lock and the hook are used.
//!
//! `submission` is taken first and held over the hook's `submitted`, so that the hook sees tickets
//! in their order; `state` is never held over a call to foreign code. The worker's thread takes
//! `state` only.

use std::sync::{Arc, OnceLock};

use super::item::Item;
use super::position::Position;
use super::state::{Picked, State};
use super::sync::{Condvar, Mutex, MutexGuard, ThreadId, current_thread_id};
use super::{Clock, Completion, ProcessIdentity, WorkerError};
use crate::{StreamId, Ticket};

/// How a worker was built; constant.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) device: u32,
    pub(super) stream_pool_size: u32,
    pub(super) is_streams_enabled: bool,
    pub(super) is_launch_blocking: bool,
    pub(super) completion: Option<Arc<dyn Completion>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) process: Arc<dyn ProcessIdentity>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) settings: Settings,
    started_in: u32,
    /// Set by the worker's thread before it runs anything.
    worker_thread: OnceLock<ThreadId>,
    submission: Mutex<()>,
    state: Mutex<State>,
    /// Something to run may have come, or the end.
    has_work: Condvar,
    /// Something has completed.
    has_progress: Condvar,
}

impl Shared {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            started_in: settings.process.process_id(),
            settings,
            worker_thread: OnceLock::new(),
            submission: Mutex::new(()),
            state: Mutex::new(State::new()),
            has_work: Condvar::new(),
            has_progress: Condvar::new(),
        }
    }

    /// Refuses a call from a forked child. Comes before any lock: in a child, a lock that the
    /// parent held stays locked for ever.
    pub(super) fn check_process(&self) -> Result<(), WorkerError> {
        let called_from = self.settings.process.process_id();
        if called_from != self.started_in {
            return Err(WorkerError::Forked { started_in: self.started_in, called_from });
        }
        Ok(())
    }

    pub(super) fn is_worker_thread(&self) -> bool {
        self.worker_thread.get() == Some(&current_thread_id())
    }

    /// Refuses to wait on the worker's thread, whether or not there is anything to wait for.
    pub(super) fn check_may_wait(&self, call: &'static str) -> Result<(), WorkerError> {
        self.check_process()?;
        if self.is_worker_thread() {
            return Err(WorkerError::WaitInWorker { device: self.settings.device, call });
        }
        Ok(())
    }

    /// The state, for a call that does not wait.
    pub(super) fn state(&self) -> Result<MutexGuard<'_, State>, WorkerError> {
        self.check_process()?;
        Ok(self.state.lock())
    }

    /// The stream that a number stands for: the default one when streams are off.
    pub(super) fn resolve(&self, stream: StreamId) -> StreamId {
        if self.settings.is_streams_enabled { stream } else { StreamId::DEFAULT }
    }

    /// Submits an item. `None` when it has happened already and nothing was queued.
    pub(super) fn submit(&self, stream: StreamId, item: Item) -> Result<Option<Ticket>, WorkerError> {
        let stream = self.resolve(stream);
        // The host itself may be the one to set the signal: there is nothing to block on.
        let is_blocking = self.settings.is_launch_blocking && !matches!(item, Item::WaitSignal(_));
        if is_blocking {
            self.check_may_wait("submit")?;
        }
        let Some(ticket) = self.enqueue(stream, item)? else {
            return Ok(None);
        };
        if is_blocking {
            self.wait_for_outcome(Position { stream, ticket })?;
        }
        Ok(Some(ticket))
    }

    /// Behind all that was submitted to a stream, when it takes work.
    pub(super) fn end_of(&self, stream: StreamId) -> Result<Position, WorkerError> {
        let stream = self.resolve(stream);
        let state = self.state()?;
        self.check_takes_work(&state, stream)?;
        Ok(state.end_of(stream)?)
    }

    /// Waits until all positions are reached. The caller has checked that it may.
    pub(super) fn wait_for(&self, positions: &[Position]) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        while !positions.iter().all(|position| state.is_reached(*position)) {
            state = self.has_progress.wait(state);
        }
        state
    }

    /// Lets later work of a stream wait for a position, and tells the owner.
    pub(super) fn order(&self, stream: StreamId, position: Position) -> Result<(), WorkerError> {
        self.submit(stream, Item::WaitFor(position))?;
        if let Some(completion) = &self.settings.completion {
            completion.ordered(self.resolve(stream), position.stream, position.ticket);
        }
        Ok(())
    }

    /// Tells the owner that the host knows these positions to be reached. No lock is held.
    pub(super) fn tell_waited(&self, positions: &[Position]) {
        if let Some(completion) = &self.settings.completion {
            positions.iter().for_each(|position| completion.waited(position.stream, position.ticket));
        }
    }

    /// Changes something that a waiting item looks at.
    pub(super) fn change(&self, change: impl FnOnce()) {
        let state = self.state.lock();
        change();
        drop(state);
        self.has_work.notify_all();
    }

    /// Ends the taking of work. Comes between submissions, so that none is announced and lost.
    pub(super) fn shut_down(&self) {
        let submission = self.submission.lock();
        self.state.lock().is_shut_down = true;
        drop(submission);
        self.has_work.notify_all();
    }

    /// For the worker's thread: notes that this is it.
    pub(super) fn enter_worker_thread(&self) {
        // The only call there is: nothing can be set already.
        let _ = self.worker_thread.set(current_thread_id());
    }

    /// For the worker's thread: waits for the next item; `None` at the end.
    pub(super) fn next_item(&self) -> Option<Picked> {
        let mut state = self.state.lock();
        loop {
            if let Some(picked) = state.pick() {
                return Some(picked);
            }
            // Everything that was queued has run: shutdown leaves nothing to wait for.
            if state.is_shut_down {
                return None;
            }
            state = self.has_work.wait(state);
        }
    }

    /// For the worker's thread: ends an item and wakes whoever waits for it.
    pub(super) fn finish(&self, picked: &mut Picked, panic: Option<String>) -> Option<std::task::Waker> {
        let waker = self.state.lock().finish(picked, panic);
        self.has_progress.notify_all();
        waker
    }

    fn enqueue(&self, stream: StreamId, item: Item) -> Result<Option<Ticket>, WorkerError> {
        self.check_process()?;
        // The item, if refused, is dropped after the locks.
        let _submission = self.submission.lock();
        let mut state = self.state.lock();
        self.check_takes_work(&state, stream)?;
        if !state.must_queue(stream, &item) {
            return Ok(None);
        }
        if let Some(completion) = &self.settings.completion {
            let ticket = state.lane(stream)?.next_ticket();
            drop(state);
            completion.submitted(stream, ticket);
            state = self.state.lock();
        }
        let ticket = state.push(stream, item)?;
        drop(state);
        self.has_work.notify_all();
        Ok(Some(ticket))
    }

    fn check_takes_work(&self, state: &State, stream: StreamId) -> Result<(), WorkerError> {
        let lane = state.lane(stream)?;
        if state.is_shut_down {
            return Err(WorkerError::ShutDown { device: self.settings.device });
        }
        lane.failure().map_or(Ok(()), |error| Err(error.clone()))
    }

    fn wait_for_outcome(&self, position: Position) -> Result<(), WorkerError> {
        let mut state = self.wait_for(&[position]);
        let lane = state.lane_mut(position.stream)?;
        let doom = lane.doom_of(position.ticket).cloned();
        if doom.is_some() {
            lane.report_failure();
        }
        drop(state);
        self.tell_waited(&[position]);
        doom.map_or(Ok(()), Err)
    }
}
