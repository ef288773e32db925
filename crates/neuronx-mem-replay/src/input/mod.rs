//! A run from any input: a trace, a trace with call stacks, or a snapshot. Reads it and keeps the
//! stack of every allocation beside it; asks no question about it.

mod json_lines;
mod sources;

use std::io::{BufRead, Read};

use neuronx_mem_snapshot::{Snapshot, StackId, StackTable};

use crate::{EventSource, HistoryEvents, OpenedInput, ReplayError, Trace, TraceInput};
use sources::{Lines, WithStacks};

/// How an input is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Skip and count wrong lines of a trace.
    pub is_lenient: bool,
    /// The device of a snapshot; unset, the first that has a history or segments.
    pub device_idx: Option<usize>,
}

/// A trace or a snapshot in memory, with the call stack of each allocation.
#[derive(Clone, Debug)]
pub struct Input {
    trace: Trace,
    /// The stack of each allocation, in order; empty when the input has none.
    stacks: Vec<StackId>,
    table: StackTable,
    snapshot: Option<Box<Snapshot>>,
    device_idx: usize,
    name: String,
}

impl Input {
    /// Reads an input, told apart by content: a snapshot (pickle or JSON), a trace (CSV), or a trace
    /// with call stacks (JSON lines); traces may be compressed.
    ///
    /// ```
    /// use neuronx_mem_replay::{Input, TraceReader};
    ///
    /// let input = Input::from_events(TraceReader::new("a,1,512,0\nf,1\n".as_bytes(), "tiny"))?;
    /// assert_eq!(input.n_events(), 2);
    /// # Ok::<(), neuronx_mem_replay::ReplayError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`TraceInput::open_any`] and [`Trace::read`]; [`ReplayError::Line`].
    pub fn read(input: &TraceInput, options: &ReadOptions) -> Result<Self, ReplayError> {
        if input.is_rereadable() && json_lines::is_at(input)? {
            return json_lines::read(input.open_text()?, input);
        }
        match input.open_any()? {
            OpenedInput::Trace(reader) => {
                refuse_device(input, options)?;
                Self::from_events(reader.lenient(options.is_lenient))
            }
            OpenedInput::Snapshot(snapshot) => {
                Self::from_snapshot(snapshot, options.device_idx, &input.name())
            }
        }
    }

    /// Takes the events of a trace, which has no stacks.
    ///
    /// # Errors
    ///
    /// The first error of the source.
    pub fn from_events(events: impl EventSource) -> Result<Self, ReplayError> {
        let trace = Trace::read(events)?;
        let name = trace.name().to_owned();
        Ok(Self { trace, stacks: Vec::new(), table: StackTable::new(), snapshot: None, device_idx: 0, name })
    }

    /// Takes one device of a snapshot: its history, and its memory at the end.
    ///
    /// # Errors
    ///
    /// [`ReplayError::NoSuchDevice`].
    pub fn from_snapshot(
        snapshot: Box<Snapshot>,
        device_idx: Option<usize>,
        name: &str,
    ) -> Result<Self, ReplayError> {
        let mut stacks = Vec::new();
        let events = HistoryEvents::of_device(&snapshot, device_idx, name)?;
        let device_idx = device_idx.or(HistoryEvents::devices(&snapshot).first().copied()).unwrap_or(0);
        let trace = match Trace::read(WithStacks::new(events, &mut stacks)) {
            // Nothing was ever allocated; that is what there is to say.
            Err(ReplayError::NoEvents { .. }) => Trace::default(),
            trace => trace?,
        };
        let table = snapshot.stacks().clone();
        Ok(Self { trace, stacks, table, snapshot: Some(snapshot), device_idx, name: name.to_owned() })
    }

    fn from_lines(lines: Lines, stacks: Vec<StackId>, table: StackTable) -> Result<Self, ReplayError> {
        let name = lines.name().to_owned();
        let trace = Trace::read(lines)?;
        Ok(Self { trace, stacks, table, snapshot: None, device_idx: 0, name })
    }

    /// Name in messages and reports.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a snapshot.
    #[must_use]
    pub fn is_snapshot(&self) -> bool {
        self.snapshot.is_some()
    }

    /// The events, without stacks.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// How many events there are.
    #[must_use]
    pub fn n_events(&self) -> u64 {
        self.trace.n_events()
    }

    /// The snapshot that it is, if it is one.
    #[must_use]
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.as_deref()
    }

    /// The device of the snapshot that was read; 0 for a trace.
    #[must_use]
    pub fn device_idx(&self) -> usize {
        self.device_idx
    }

    /// The stacks.
    #[must_use]
    pub fn table(&self) -> &StackTable {
        &self.table
    }

    /// The stack of the allocation with this position among the allocations, from 0; empty when none
    /// was recorded. O(1).
    #[must_use]
    pub fn stack(&self, allocation_idx: usize) -> StackId {
        self.stacks.get(allocation_idx).copied().unwrap_or(StackId::EMPTY)
    }
}

/// A trace has one device, 0.
fn refuse_device(input: &TraceInput, options: &ReadOptions) -> Result<(), ReplayError> {
    match options.device_idx {
        Some(device_idx) if device_idx > 0 => {
            Err(ReplayError::NoSuchDevice { input: input.name(), device_idx })
        }
        _ => Ok(()),
    }
}

/// Reads one line, without its end, of at most `max_bytes`; `None` at the end.
fn read_line(reader: &mut dyn BufRead, max_bytes: u64, bytes: &mut Vec<u8>) -> std::io::Result<Option<()>> {
    bytes.clear();
    let n_read = reader.take(max_bytes).read_until(b'\n', bytes)?;
    Ok((n_read > 0).then_some(()))
}
