//! The real locks and threads. Adds nothing to them but the shape that both kinds share.

use std::io;
use std::thread::{self, Builder};

pub(crate) use parking_lot::{Mutex, MutexGuard};
pub(crate) use std::thread::{JoinHandle, ThreadId};

/// A condition to wait for, with the guard handed through.
#[derive(Debug, Default)]
pub(crate) struct Condvar(parking_lot::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(&mut guard);
        guard
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

pub(crate) fn spawn(name: String, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    Builder::new().name(name).spawn(run)
}

pub(crate) fn current_thread_id() -> ThreadId {
    thread::current().id()
}
