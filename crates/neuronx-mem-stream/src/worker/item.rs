//! What a stream queues. Knows how one item runs and ends, not when.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::task::Waker;

use super::WorkerError;
use super::position::Position;

/// One piece of work.
pub(super) enum Item {
    /// The caller's code.
    Task(Box<dyn Task>),
    /// Notes the time, in ns.
    Stamp(Arc<OnceLock<u64>>),
    /// Stands until another stream has come that far.
    WaitFor(Position),
    /// Stands until the host has set it. Written under the state lock only.
    WaitSignal(Arc<AtomicBool>),
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task(_) => f.write_str("Task"),
            Self::Stamp(_) => f.write_str("Stamp"),
            Self::WaitFor(position) => write!(f, "WaitFor({position:?})"),
            Self::WaitSignal(_) => f.write_str("WaitSignal"),
        }
    }
}

/// The caller's code, with a place for its result.
pub(super) trait Task: Send {
    /// Runs the code. Called once at most, without a lock.
    fn run(&mut self);

    /// Drops the code unrun. Called instead of `run`, without a lock.
    fn discard(&mut self);

    /// Lets the result be seen. Called once, after either, under the state lock: runs no foreign
    /// code, and gives the waker back for that reason.
    fn settle(&mut self, outcome: Result<(), WorkerError>) -> Option<Waker>;
}

/// Code without a result.
pub(super) struct Plain<F>(pub(super) Option<F>);

impl<F: FnOnce() + Send> Task for Plain<F> {
    fn run(&mut self) {
        if let Some(work) = self.0.take() {
            work();
        }
    }

    fn discard(&mut self) {
        self.0 = None;
    }

    fn settle(&mut self, _outcome: Result<(), WorkerError>) -> Option<Waker> {
        None
    }
}
