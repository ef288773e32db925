//! One stream of the worker: its queue, how far it has come, and whether it is poisoned.

use std::collections::VecDeque;

use super::item::Item;
use super::{Priority, WorkerError};
use crate::Ticket;

#[derive(Debug)]
pub(super) struct WorkLane {
    pub(super) priority: Priority,
    /// The last ticket given out.
    pub(super) submitted: Ticket,
    /// Work up to here has completed, and the hook has been told.
    pub(super) completed: Ticket,
    items: VecDeque<Queued>,
    /// Set by a panic, cleared by a reset.
    failure: Option<Failure>,
    /// Outlives a reset: what was queued behind the panic is dropped all the same.
    doom: Option<Doom>,
}

/// An item in its place.
#[derive(Debug)]
pub(super) struct Queued {
    /// Order of submission over all streams.
    pub(super) sequence: u64,
    pub(super) ticket: Ticket,
    pub(super) item: Item,
}

#[derive(Debug)]
struct Failure {
    error: WorkerError,
    /// Whether a call that waits has returned it.
    is_reported: bool,
}

/// Tickets from the one that panicked to the last one accepted before the panic was known.
#[derive(Debug)]
struct Doom {
    from: Ticket,
    through: Ticket,
    error: WorkerError,
}

impl WorkLane {
    pub(super) fn new(priority: Priority) -> Self {
        Self {
            priority,
            submitted: Ticket(0),
            completed: Ticket(0),
            items: VecDeque::new(),
            failure: None,
            doom: None,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.completed == self.submitted
    }

    pub(super) fn next_ticket(&self) -> Ticket {
        Ticket(self.submitted.0 + 1)
    }

    /// Queues an item under the next ticket.
    pub(super) fn push(&mut self, sequence: u64, item: Item) -> Ticket {
        let ticket = self.next_ticket();
        self.submitted = ticket;
        // The stream was whole when the submission was accepted and has been poisoned since.
        if let (Some(_), Some(doom)) = (&self.failure, &mut self.doom) {
            doom.through = ticket;
        }
        self.items.push_back(Queued { sequence, ticket, item });
        ticket
    }

    pub(super) fn head(&self) -> Option<&Queued> {
        self.items.front()
    }

    pub(super) fn pop(&mut self) -> Option<Queued> {
        self.items.pop_front()
    }

    /// Poisons the stream; what is queued will be dropped. The first failure is kept.
    pub(super) fn fail(&mut self, ticket: Ticket, error: WorkerError) {
        if self.failure.is_some() {
            return;
        }
        self.doom = Some(Doom { from: ticket, through: self.submitted, error: error.clone() });
        self.failure = Some(Failure { error, is_reported: false });
    }

    /// The error that work `ticket` ends with, when it panicked or was dropped.
    pub(super) fn doom_of(&self, ticket: Ticket) -> Option<&WorkerError> {
        let doom = self.doom.as_ref()?;
        (doom.from..=doom.through).contains(&ticket).then_some(&doom.error)
    }

    pub(super) fn failure(&self) -> Option<&WorkerError> {
        self.failure.as_ref().map(|failure| &failure.error)
    }

    /// The failure, unless a call has returned it before.
    pub(super) fn report_failure(&mut self) -> Option<WorkerError> {
        let failure = self.failure.as_mut().filter(|failure| !failure.is_reported)?;
        failure.is_reported = true;
        Some(failure.error.clone())
    }

    pub(super) fn reset(&mut self) {
        self.failure = None;
    }
}
