//! Everything that the worker's lock protects, and the choice of the next item. Runs nothing,
//! waits for nothing, and gives the same choice for the same queues.

use std::cmp::Reverse;
use std::sync::atomic::Ordering;
use std::task::Waker;

use super::item::Item;
use super::lane::{Queued, WorkLane};
use super::position::Position;
use super::{Priority, WorkerError};
use crate::{StreamError, StreamId, Ticket};

#[derive(Debug)]
pub(super) struct State {
    lanes: Vec<WorkLane>,
    n_submitted: u64,
    /// For each priority, how many streams were handed out after the pool was full.
    n_reused: [usize; Priority::N_LEVELS],
    pub(super) is_shut_down: bool,
}

/// An item on its way through the worker's thread.
#[derive(Debug)]
pub(super) struct Picked {
    pub(super) position: Position,
    pub(super) item: Item,
    /// Why it is dropped and not run.
    pub(super) doom: Option<WorkerError>,
}

impl State {
    /// One stream, the default one.
    pub(super) fn new() -> Self {
        Self {
            lanes: vec![WorkLane::new(Priority::DEFAULT)],
            n_submitted: 0,
            n_reused: [0; Priority::N_LEVELS],
            is_shut_down: false,
        }
    }

    pub(super) fn n_streams(&self) -> u32 {
        u32::try_from(self.lanes.len()).unwrap_or(u32::MAX)
    }

    /// A new stream while the pool has room; then those of the priority in turn, and those of any
    /// priority when there is none of it.
    pub(super) fn create_stream(&mut self, priority: Priority, pool_size: u32) -> StreamId {
        if pool_size == 0 {
            return StreamId::DEFAULT;
        }
        let number = self.n_streams();
        if number <= pool_size {
            self.lanes.push(WorkLane::new(priority));
            return StreamId(number);
        }
        let equal = |number: &u32| self.lanes[*number as usize].priority == priority;
        let mut candidates: Vec<u32> = (1..number).filter(equal).collect();
        if candidates.is_empty() {
            candidates = (1..number).collect();
        }
        let turn = &mut self.n_reused[usize::from(priority.level())];
        let chosen = candidates[*turn % candidates.len()];
        *turn += 1;
        StreamId(chosen)
    }

    pub(super) fn lane(&self, stream: StreamId) -> Result<&WorkLane, StreamError> {
        let unknown = StreamError::UnknownStream { stream, n_streams: self.n_streams() };
        self.lanes.get(stream.0 as usize).ok_or(unknown)
    }

    pub(super) fn lane_mut(&mut self, stream: StreamId) -> Result<&mut WorkLane, StreamError> {
        let unknown = StreamError::UnknownStream { stream, n_streams: self.n_streams() };
        self.lanes.get_mut(stream.0 as usize).ok_or(unknown)
    }

    /// Behind all that was submitted to a stream.
    pub(super) fn end_of(&self, stream: StreamId) -> Result<Position, StreamError> {
        self.lane(stream).map(|lane| Position { stream, ticket: lane.submitted })
    }

    /// Behind all that was submitted to any stream.
    pub(super) fn ends(&self) -> Vec<Position> {
        (0..self.n_streams()).map_while(|number| self.end_of(StreamId(number)).ok()).collect()
    }

    /// Whether the work before a position has completed.
    pub(super) fn is_reached(&self, position: Position) -> bool {
        self.lane(position.stream).is_ok_and(|lane| lane.completed >= position.ticket)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.lanes.iter().all(WorkLane::is_idle)
    }

    /// Whether an item has to be queued; otherwise it has happened by being submitted.
    pub(super) fn must_queue(&self, stream: StreamId, item: &Item) -> bool {
        match item {
            Item::Task(_) => true,
            Item::Stamp(_) => self.lane(stream).is_ok_and(|lane| !lane.is_idle()),
            Item::WaitFor(position) => position.stream != stream && !self.is_reached(*position),
            Item::WaitSignal(signal) => !signal.load(Ordering::Relaxed),
        }
    }

    pub(super) fn push(&mut self, stream: StreamId, item: Item) -> Result<Ticket, StreamError> {
        let sequence = self.n_submitted;
        let ticket = self.lane_mut(stream)?.push(sequence, item);
        self.n_submitted += 1;
        Ok(ticket)
    }

    /// Takes the next item: the highest priority first, then the order of submission.
    ///
    /// Streams whose first item has to wait are passed over. A wait names work that was submitted
    /// before it, so of all queued items the oldest is never waiting for a stream: only the host
    /// can stall the device. After shutdown it no longer can.
    pub(super) fn pick(&mut self) -> Option<Picked> {
        let runnable = |(_, lane, queued): &(u32, &WorkLane, &Queued)| self.is_runnable(lane, queued);
        let urgency =
            |(_, lane, queued): &(u32, &WorkLane, &Queued)| (Reverse(lane.priority), queued.sequence);
        let next = self.heads().filter(runnable).min_by_key(urgency).map(|(number, ..)| number);
        let next = next.or_else(|| self.stalled_by_host().filter(|_| self.is_shut_down))?;
        let lane = self.lanes.get_mut(next as usize)?;
        let queued = lane.pop()?;
        let position = Position { stream: StreamId(next), ticket: queued.ticket };
        Some(Picked { position, item: queued.item, doom: lane.doom_of(queued.ticket).cloned() })
    }

    /// Ends an item: what waits for it may go on after this. The panic it or the hook ended with
    /// poisons the stream.
    pub(super) fn finish(&mut self, picked: &mut Picked, panic: Option<String>) -> Option<Waker> {
        let Position { stream, ticket } = picked.position;
        let lane = self.lanes.get_mut(stream.0 as usize)?;
        lane.completed = ticket;
        let error = panic.map(|message| WorkerError::StreamPoisoned { stream, ticket, message });
        if let Some(error) = &error {
            lane.fail(ticket, error.clone());
        }
        let outcome = picked.doom.clone().or(error).map_or(Ok(()), Err);
        match &mut picked.item {
            Item::Task(task) => task.settle(outcome),
            _ => None,
        }
    }

    /// The failure of the lowest stream that no call has returned.
    pub(super) fn report_failure(&mut self) -> Option<WorkerError> {
        self.lanes.iter_mut().find_map(WorkLane::report_failure)
    }

    fn heads(&self) -> impl Iterator<Item = (u32, &WorkLane, &Queued)> {
        (0..).zip(&self.lanes).filter_map(|(number, lane)| lane.head().map(|queued| (number, lane, queued)))
    }

    fn is_runnable(&self, lane: &WorkLane, queued: &Queued) -> bool {
        if lane.doom_of(queued.ticket).is_some() {
            return true;
        }
        match &queued.item {
            Item::Task(_) | Item::Stamp(_) => true,
            Item::WaitFor(position) => self.is_reached(*position),
            Item::WaitSignal(signal) => signal.load(Ordering::Relaxed),
        }
    }

    fn stalled_by_host(&self) -> Option<u32> {
        let stalled = self.heads().filter(|(_, _, queued)| matches!(queued.item, Item::WaitSignal(_)));
        stalled.min_by_key(|(_, _, queued)| queued.sequence).map(|(number, ..)| number)
    }
}

#[cfg(test)]
mod tests;
