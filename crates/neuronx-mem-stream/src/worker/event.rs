//! A mark in a stream that others can wait for. Knows one position, and its time when it is timed.

use std::sync::{Arc, OnceLock};

use super::item::Item;
use super::position::Position;
use super::shared::Shared;
use super::sync::Mutex;
use super::{MissingTime, Stream, WorkerError};
use crate::Ticket;

/// A mark behind the work that a stream had when it was recorded.
///
/// Recording again moves the mark; whoever waits already keeps waiting for the old one. A mark on
/// an idle stream is reached at once. An event that was never recorded counts as reached, so
/// waiting for it does nothing, and no cycle of waits can arise.
///
/// ```
/// use neuronx_mem_stream::worker::{Priority, Worker};
///
/// let worker = Worker::builder(0).start()?;
/// let (copy, compute) = (worker.create_stream(Priority::DEFAULT)?, worker.default_stream());
/// let copied = worker.create_event();
/// copy.submit(|| println!("copy"))?;
/// copied.record(&copy)?;
/// copied.wait(&compute)?;
/// compute.submit(|| println!("compute"))?; // after the copy
/// worker.synchronize_all()?;
/// # Ok::<(), neuronx_mem_stream::worker::WorkerError>(())
/// ```
#[derive(Debug)]
pub struct Event {
    shared: Arc<Shared>,
    is_timed: bool,
    recorded: Mutex<Option<Recorded>>,
}

#[derive(Clone, Debug)]
struct Recorded {
    position: Position,
    /// In ns; set by the worker's thread when it comes there. Of a timed event only.
    time: Option<Arc<OnceLock<u64>>>,
}

impl Event {
    pub(super) fn new(shared: Arc<Shared>, is_timed: bool) -> Self {
        Self { shared, is_timed, recorded: Mutex::new(None) }
    }

    /// Whether the event notes the time; see [`elapsed_ns`](Self::elapsed_ns).
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.is_timed
    }

    /// Sets the mark behind all work submitted to the stream. Waits for nothing.
    ///
    /// Only a timed event on a busy stream queues something, and so takes a ticket.
    ///
    /// # Errors
    ///
    /// [`WorkerError::StreamPoisoned`], [`WorkerError::ShutDown`], [`WorkerError::OtherWorker`],
    /// [`WorkerError::Forked`]; the mark stays where it was.
    pub fn record(&self, stream: &Stream) -> Result<(), WorkerError> {
        stream.check_worker(&self.shared, "event")?;
        let recorded = if self.is_timed {
            self.stamp(stream)?
        } else {
            Recorded { position: self.shared.end_of(stream.id())?, time: None }
        };
        *self.recorded.lock() = Some(recorded);
        Ok(())
    }

    /// Lets later work of the stream wait for the mark as it is now. Waits for nothing itself.
    ///
    /// # Errors
    ///
    /// As [`record`](Self::record).
    pub fn wait(&self, stream: &Stream) -> Result<(), WorkerError> {
        stream.check_worker(&self.shared, "event")?;
        // A poisoned stream and a forked process refuse even what would do nothing.
        self.shared.end_of(stream.id())?;
        if let Some(position) = self.position() {
            self.shared.order(stream.id(), position)?;
        }
        Ok(())
    }

    /// Whether the work before the mark has completed.
    ///
    /// # Errors
    ///
    /// [`WorkerError::Forked`].
    pub fn query(&self) -> Result<bool, WorkerError> {
        self.shared.check_process()?;
        let Some(position) = self.position() else {
            return Ok(true);
        };
        let is_reached = self.shared.state()?.is_reached(position);
        if is_reached {
            self.shared.tell_waited(&[position]);
        }
        Ok(is_reached)
    }

    /// Waits until the work before the mark has completed. The error of a poisoned stream is left
    /// for a `synchronize` of that stream.
    ///
    /// # Errors
    ///
    /// [`WorkerError::WaitInWorker`], [`WorkerError::Forked`].
    pub fn synchronize(&self) -> Result<(), WorkerError> {
        self.shared.check_may_wait("Event::synchronize")?;
        if let Some(position) = self.position() {
            drop(self.shared.wait_for(&[position]));
            self.shared.tell_waited(&[position]);
        }
        Ok(())
    }

    /// The time from this mark to that of `end`, in ns; negative when `end` was reached first.
    ///
    /// # Errors
    ///
    /// [`WorkerError::NoEventTime`], [`WorkerError::OtherWorker`] (clocks need not agree),
    /// [`WorkerError::Forked`].
    pub fn elapsed_ns(&self, end: &Self) -> Result<i64, WorkerError> {
        if !Arc::ptr_eq(&self.shared, &end.shared) {
            let (owner, user) = (end.shared.settings.device, self.shared.settings.device);
            return Err(WorkerError::OtherWorker { what: "event", owner, user });
        }
        let named = |event| move |reason| WorkerError::NoEventTime { event, reason };
        let start_ns = self.time_ns()?.map_err(named("start"))?;
        let end_ns = end.time_ns()?.map_err(named("end"))?;
        // Differences beyond 292 years are cut.
        let distance = i64::try_from(end_ns.abs_diff(start_ns)).unwrap_or(i64::MAX);
        Ok(if end_ns < start_ns { -distance } else { distance })
    }

    fn stamp(&self, stream: &Stream) -> Result<Recorded, WorkerError> {
        let time = Arc::new(OnceLock::new());
        let ticket = self.shared.submit(stream.id(), Item::Stamp(Arc::clone(&time)))?;
        let stream = self.shared.resolve(stream.id());
        let position = Position { stream, ticket: ticket.unwrap_or(Ticket(0)) };
        if ticket.is_none() {
            // Nobody else has this stamp.
            let _ = time.set(self.shared.settings.clock.now_ns());
        }
        Ok(Recorded { position, time: Some(time) })
    }

    fn position(&self) -> Option<Position> {
        self.recorded.lock().as_ref().map(|recorded| recorded.position)
    }

    fn time_ns(&self) -> Result<Result<u64, MissingTime>, WorkerError> {
        self.shared.check_process()?;
        if !self.is_timed {
            return Ok(Err(MissingTime::NotTimed));
        }
        let Some(recorded) = self.recorded.lock().clone() else {
            return Ok(Err(MissingTime::NeverRecorded));
        };
        if !self.shared.state()?.is_reached(recorded.position) {
            return Ok(Err(MissingTime::NotCompleted));
        }
        let time = recorded.time.and_then(|time| time.get().copied());
        Ok(time.ok_or(MissingTime::Dropped))
    }
}
