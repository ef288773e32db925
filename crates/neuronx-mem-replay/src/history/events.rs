//! The steps of a history as events of a trace. Knows names and headers.

use std::path::Path;

use neuronx_mem_snapshot::{Snapshot, StackId};

use super::final_state::device_of;
use super::mark::one_line;
use super::steps::{HistoryChange, HistorySteps};
use crate::{Event, EventSource, Header, ReplayError, Skipped, TraceLine};

/// One device's history in a snapshot, as the events of a trace.
///
/// - `alloc` and `free_completed` become allocations and frees with the bytes asked for; where
///   completions were not recorded, `free_requested` ends a life.
/// - Blocks that lived before the first event come first, between the marks `baseline` and
///   `history`: those that are freed or alive at the end without an allocation in the history.
/// - `snapshot`, `oom BYTES`, `annotate TEXT` and the begin and end of the program's ranges
///   become marks. What the final segments show and no event tells comes last, after the mark
///   `unrecorded`.
/// - The default stream stays 0, the others become 1, 2, … as they first appear.
///
/// The line of an event is the position of its entry in the history, from 1.
///
/// ```
/// use neuronx_mem_replay::{Event, HistoryEvents};
/// use neuronx_mem_snapshot::{Action, Snapshot, TraceEntry};
///
/// let mut snapshot = Snapshot::new();
/// let entry = |action| TraceEntry::new(action).with_addr(0x1000).with_size_bytes(512);
/// snapshot.push_entry(0, entry(Action::Alloc));
/// snapshot.push_entry(0, entry(Action::FreeCompleted));
/// let events = HistoryEvents::new(&snapshot, 0, "tiny.pickle");
/// let events = events.map(|line| line.map(|line| line.event)).collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(events, [Event::Allocate { id: 1, bytes: 512, stream: 0 }, Event::Free { id: 1 }]);
/// # Ok::<(), neuronx_mem_replay::ReplayError>(())
/// ```
#[derive(Clone, Debug)]
pub struct HistoryEvents<'a> {
    input: String,
    headers: Vec<Header>,
    steps: HistorySteps<'a>,
    n_events: u64,
    is_done: bool,
    last_stack: Option<StackId>,
}

impl<'a> HistoryEvents<'a> {
    /// The history of one device; `input` names the snapshot in errors and reports. Looks through the
    /// history once for what lived before it: O(entries · log blocks).
    #[must_use]
    pub fn new(snapshot: &'a Snapshot, device_idx: usize, input: impl Into<String>) -> Self {
        let input = input.into();
        let headers = headers(snapshot, device_idx, &input);
        let steps = HistorySteps::new(snapshot, device_idx);
        Self { input, headers, steps, n_events: 0, is_done: false, last_stack: None }
    }

    /// The history of the device asked for, or of the first that has one. Says so when there are others.
    ///
    /// # Errors
    ///
    /// [`ReplayError::NoSuchDevice`] when the one asked for has neither events nor segments.
    pub fn of_device(
        snapshot: &'a Snapshot,
        device_idx: Option<usize>,
        input: impl Into<String>,
    ) -> Result<Self, ReplayError> {
        let input = input.into();
        let devices = Self::devices(snapshot);
        let chosen = device_idx.or(devices.first().copied()).unwrap_or(0);
        if device_idx.is_some() && !devices.contains(&chosen) {
            return Err(ReplayError::NoSuchDevice { input, device_idx: chosen });
        }
        if device_idx.is_none() && devices.len() > 1 {
            tracing::warn!("{input}: has devices {devices:?}: reading device {chosen}");
        }
        Ok(Self::new(snapshot, chosen, input))
    }

    /// The devices that have a history or segments, ascending.
    #[must_use]
    pub fn devices(snapshot: &Snapshot) -> Vec<usize> {
        let traces = snapshot.device_traces.iter().flatten().enumerate();
        let traced = traces.filter(|(_, trace)| !trace.is_empty()).map(|(device_idx, _)| device_idx);
        let mut devices: Vec<usize> = traced.chain(snapshot.segments.iter().filter_map(device_of)).collect();
        devices.sort_unstable();
        devices.dedup();
        devices
    }

    /// The call stack of the last event, in the snapshot's own table; `None` where the history has
    /// none, and for whatever is no allocation. O(1).
    #[must_use]
    pub fn last_stack(&self) -> Option<StackId> {
        self.last_stack
    }

    fn line(&mut self) -> Option<TraceLine> {
        loop {
            let step = self.steps.next()?;
            self.last_stack = None;
            let event = match step.what {
                HistoryChange::Allocate { id, bytes, stream, stack, .. } => {
                    self.last_stack = stack;
                    Event::Allocate { id, bytes, stream }
                }
                HistoryChange::Free { id } => Event::Free { id },
                HistoryChange::Mark(mark) => Event::Mark(mark.label().into()),
                HistoryChange::Reserve { .. } => continue,
            };
            return Some(TraceLine { line: step.entry_idx as u64 + 1, event });
        }
    }
}

impl Iterator for HistoryEvents<'_> {
    type Item = Result<TraceLine, ReplayError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        if let Some(line) = self.line() {
            self.n_events += 1;
            return Some(Ok(line));
        }
        self.is_done = true;
        let is_empty = self.n_events == 0;
        is_empty.then(|| Err(ReplayError::NoEvents { input: self.input.clone() }))
    }
}

impl EventSource for HistoryEvents<'_> {
    fn name(&self) -> &str {
        &self.input
    }

    fn headers(&self) -> &[Header] {
        &self.headers
    }

    fn is_lenient(&self) -> bool {
        false
    }

    fn skipped(&self) -> Skipped {
        Skipped::default()
    }
}

fn headers(snapshot: &Snapshot, device_idx: usize, input: &str) -> Vec<Header> {
    let header = |key: &str, value: &str| Header { key: key.to_owned(), value: one_line(value) };
    let stem = Path::new(input).file_stem().map(|stem| stem.to_string_lossy());
    let mut headers = vec![
        header("name", stem.as_deref().unwrap_or(input)),
        header("source", &format!("memory snapshot, device {device_idx}")),
    ];
    if snapshot.dropped_entries() > 0 {
        headers.push(header("dropped", &snapshot.dropped_entries().to_string()));
    }
    headers
}
