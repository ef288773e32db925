//! A replay whose history is recorded, and the snapshot that it leaves. Time is the number of the
//! event, so that a snapshot does not depend on the machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use neuronx_mem::Allocator;
use neuronx_mem_snapshot::{Annotation, RecordOptions, Snapshot};

use crate::{Event, EventSource, Outcome, Replay, ReplayError, ReplayReport};

/// A report, and the snapshot that was taken at the end.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Recorded {
    /// The figures.
    pub report: ReplayReport,
    /// Segments and blocks after the last event, and the history of all events.
    pub snapshot: Snapshot,
}

/// The label of a mark, and the event that it is.
type Phase = (u64, Box<str>);

impl Replay {
    /// Replays a source with the memory history on, and takes a snapshot at the end, also when the
    /// device ran out of memory.
    ///
    /// An entry's `time_us` is the number of its event. A mark becomes a range of the program up to
    /// the next mark, and the metadata of the entries in it. Synchronisations and requests of no
    /// bytes leave no trace in a history.
    ///
    /// ```
    /// use neuronx_mem_replay::{Replay, ReplayOptions, TraceReader};
    ///
    /// let trace = TraceReader::new("a,1,4194304,0\nf,1\n".as_bytes(), "one tensor");
    /// let recorded = Replay::new(ReplayOptions::default()).record(trace)?;
    /// let names = recorded.snapshot.trace(0).iter().map(|entry| entry.action().name(recorded.snapshot.stacks()));
    /// assert!(names.eq(["segment_alloc", "alloc", "free_requested", "free_completed"]));
    /// # Ok::<(), neuronx_mem_replay::ReplayError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn record(&self, source: impl EventSource) -> Result<Recorded, ReplayError> {
        let now = Arc::new(AtomicU64::new(1));
        let clock = Arc::clone(&now);
        let device = self.device(Allocator::builder().clock_us(move || clock.load(Ordering::Relaxed)))?;
        device.record_memory_history(&RecordOptions::default());
        let mut phases = Vec::new();
        let outcome = self.drive(device, source, |progress| {
            if let Event::Mark(label) = progress.event {
                progress.device.set_memory_metadata(label);
                phases.push((progress.number, label.clone()));
            }
            now.store(progress.number + 1, Ordering::Relaxed);
        })?;
        let Outcome { report, device } = outcome;
        let mut snapshot = device.snapshot();
        annotate(&mut snapshot, &phases, report.events);
        Ok(Recorded { report, snapshot })
    }
}

fn annotate(snapshot: &mut Snapshot, phases: &[Phase], last_event: u64) {
    let ends = phases.iter().skip(1).map(|(number, _)| *number).chain([last_event]);
    for ((number, label), end) in phases.iter().zip(ends) {
        let name = snapshot.stacks_mut().intern_text(label);
        let range = [Annotation::new(true, name, 0, *number), Annotation::new(false, name, 0, end)];
        snapshot.external_annotations.get_or_insert_default().extend(range);
    }
}
