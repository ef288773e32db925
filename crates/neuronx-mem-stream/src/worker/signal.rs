//! Something outside the worker that a stream can stand for: the host, or a device that reports
//! its completions by itself. Knows one bit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::item::Item;
use super::shared::Shared;
use super::{Stream, WorkerError};

/// A bit that the host sets once and that streams can wait for.
///
/// This is the one way to stall a stream without blocking the device's thread. Dropping the signal
/// sets it, and a worker that shuts down takes every signal as set: no stream stalls for ever.
///
/// ```
/// use neuronx_mem_stream::worker::Worker;
///
/// let worker = Worker::builder(0).start()?;
/// let (signal, stream) = (worker.create_signal(), worker.default_stream());
/// signal.wait(&stream)?;
/// stream.submit(|| ())?;
/// assert_eq!(stream.query(), Ok(false));
/// signal.set()?;
/// stream.synchronize()?;
/// # Ok::<(), neuronx_mem_stream::worker::WorkerError>(())
/// ```
#[derive(Debug)]
pub struct Signal {
    shared: Arc<Shared>,
    is_set: Arc<AtomicBool>,
}

impl Signal {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, is_set: Arc::new(AtomicBool::new(false)) }
    }

    /// Lets later work of the stream wait until the signal is set. Waits for nothing itself, not
    /// even when launches block.
    ///
    /// # Errors
    ///
    /// [`WorkerError::StreamPoisoned`], [`WorkerError::ShutDown`], [`WorkerError::OtherWorker`],
    /// [`WorkerError::Forked`].
    pub fn wait(&self, stream: &Stream) -> Result<(), WorkerError> {
        stream.check_worker(&self.shared, "signal")?;
        self.shared.submit(stream.id(), Item::WaitSignal(Arc::clone(&self.is_set)))?;
        Ok(())
    }

    /// Sets the signal. Setting it again does nothing.
    ///
    /// # Errors
    ///
    /// [`WorkerError::Forked`].
    pub fn set(&self) -> Result<(), WorkerError> {
        self.shared.check_process()?;
        self.shared.change(|| self.is_set.store(true, Ordering::Relaxed));
        Ok(())
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        // A forked child has no streams to stall.
        let _ = self.set();
    }
}
