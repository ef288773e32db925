//! One device as one process of the timeline. Knows what is shown where.

use std::io;

use hashbrown::HashMap;
use neuronx_mem_snapshot::{Snapshot, StackId};

use super::event::{Argument, Arguments, Event, Events, Phase};
use crate::history::{HistoryChange, HistoryMark, HistoryStep, HistorySteps};

/// The thread of ranges and instants; streams follow.
const PROGRAM: u64 = 0;

/// What all slices of blocks have in common.
const BLOCK: &str = "block";

pub(super) struct Timeline<'a, 'e, 'w> {
    snapshot: &'a Snapshot,
    device_idx: usize,
    /// Process 0 is special to the viewer.
    pid: u64,
    steps: HistorySteps<'a>,
    events: &'e mut Events<'w>,
    open: HashMap<u64, Slice>,
    n_streams: u64,
    allocated_bytes: u64,
    reserved_bytes: u64,
    time_us: u64,
}

/// A block that is alive.
struct Slice {
    name: String,
    bytes: u64,
    stream: u64,
}

impl<'a, 'e, 'w> Timeline<'a, 'e, 'w> {
    pub(super) fn new(snapshot: &'a Snapshot, device_idx: usize, events: &'e mut Events<'w>) -> Self {
        let steps = HistorySteps::new(snapshot, device_idx);
        let times = |entry: &neuronx_mem_snapshot::TraceEntry| entry.time_us();
        Self {
            snapshot,
            device_idx,
            pid: device_idx as u64 + 1,
            events,
            open: HashMap::new(),
            n_streams: 0,
            allocated_bytes: 0,
            reserved_bytes: steps.reserved_before(),
            time_us: steps.entries().iter().find_map(times).unwrap_or(0),
            steps,
        }
    }

    pub(super) fn write(mut self) -> io::Result<()> {
        self.name_of("process_name", PROGRAM, format!("Device {}", self.device_idx))?;
        self.name_of("thread_name", PROGRAM, "Program".to_owned())?;
        self.count_reserved()?;
        while let Some(step) = self.steps.next() {
            self.write_step(&step)?;
        }
        Ok(())
    }

    fn write_step(&mut self, step: &HistoryStep<'a>) -> io::Result<()> {
        let entry = self.steps.entries().get(step.entry_idx);
        self.time_us = entry.and_then(|entry| entry.time_us()).unwrap_or(self.time_us);
        match step.what {
            HistoryChange::Allocate { id, address, bytes, stream, stack } => {
                self.begin(id, address, bytes, stream, stack)
            }
            HistoryChange::Free { id } => self.end(id),
            HistoryChange::Reserve { bytes: change, .. } => {
                let reserved_bytes = i128::from(self.reserved_bytes) + change;
                self.reserved_bytes = u64::try_from(reserved_bytes.max(0)).unwrap_or(u64::MAX);
                self.count_reserved()
            }
            HistoryChange::Mark(HistoryMark::Begin(name)) => self.program(name, Phase::Begin),
            HistoryChange::Mark(HistoryMark::End(name)) => self.program(name, Phase::End),
            // They divide a trace; on a timeline they would divide nothing.
            HistoryChange::Mark(HistoryMark::Baseline | HistoryMark::History) => Ok(()),
            HistoryChange::Mark(mark) => self.program(&mark.label(), Phase::Instant),
        }
    }

    fn begin(
        &mut self,
        id: u64,
        address: u64,
        bytes: u64,
        stream: u64,
        stack: Option<StackId>,
    ) -> io::Result<()> {
        while self.n_streams <= stream {
            self.name_of("thread_name", self.n_streams + 1, format!("Stream {}", self.n_streams))?;
            self.n_streams += 1;
        }
        let name = self.innermost(stack).unwrap_or_else(|| BLOCK.to_owned());
        let args = vec![
            ("address", Argument::Text(format!("{address:#x}"))),
            ("bytes", Argument::Number(bytes)),
            ("stream", Argument::Number(stream)),
        ];
        self.slice(&name, Phase::BeginAsync, id, stream, Arguments(args))?;
        self.open.insert(id, Slice { name, bytes, stream });
        self.allocated_bytes = self.allocated_bytes.saturating_add(bytes);
        self.count_allocated()
    }

    fn end(&mut self, id: u64) -> io::Result<()> {
        let Some(slice) = self.open.remove(&id) else { return Ok(()) };
        self.slice(&slice.name, Phase::EndAsync, id, slice.stream, Arguments::default())?;
        self.allocated_bytes = self.allocated_bytes.saturating_sub(slice.bytes);
        self.count_allocated()
    }

    /// The innermost frame, which names the place that asked.
    fn innermost(&self, stack: Option<StackId>) -> Option<String> {
        let frame = self.snapshot.stacks().frames(stack?).next()?;
        Some(format!("{} ({}:{})", frame.name(), frame.filename(), frame.line()))
    }

    fn slice(&mut self, name: &str, ph: Phase, id: u64, stream: u64, args: Arguments) -> io::Result<()> {
        // Ids are of the whole file, not of a process.
        let id = Some(format!("{}-{id}", self.device_idx));
        let (ts, pid, tid) = (self.time_us, self.pid, stream + 1);
        self.events.write(&Event { name, cat: Some(BLOCK), ph, ts, pid, tid, id, s: None, args })
    }

    fn program(&mut self, name: &str, ph: Phase) -> io::Result<()> {
        let s = matches!(ph, Phase::Instant).then_some("p");
        self.bare(name, Some("program"), ph, s, Arguments::default())
    }

    fn count_allocated(&mut self) -> io::Result<()> {
        self.count("allocated", self.allocated_bytes)
    }

    fn count_reserved(&mut self) -> io::Result<()> {
        self.count("reserved", self.reserved_bytes)
    }

    fn count(&mut self, name: &str, bytes: u64) -> io::Result<()> {
        // The viewer calls the track by name and argument: `allocated bytes`.
        let args = Arguments(vec![("bytes", Argument::Number(bytes))]);
        self.bare(name, None, Phase::Counter, None, args)
    }

    fn name_of(&mut self, what: &str, tid: u64, name: String) -> io::Result<()> {
        let args = Arguments(vec![("name", Argument::Text(name))]);
        let (ts, pid) = (self.time_us, self.pid);
        let event =
            Event { name: what, cat: None, ph: Phase::Metadata, ts, pid, tid, id: None, s: None, args };
        self.events.write(&event)
    }

    fn bare(
        &mut self,
        name: &str,
        cat: Option<&'static str>,
        ph: Phase,
        s: Option<&'static str>,
        args: Arguments,
    ) -> io::Result<()> {
        let (ts, pid) = (self.time_us, self.pid);
        self.events.write(&Event { name, cat, ph, ts, pid, tid: PROGRAM, id: None, s, args })
    }
}
