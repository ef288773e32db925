//! A history step by step. Knows which events begin and end lives, what must have lived before the
//! first one, and what the final state shows beyond the last.
//!
//! Two passes: the first looks only for blocks that are freed, or alive at the end, without ever
//! having been allocated; the second starts with those.

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};
use neuronx_mem_snapshot::{Action, Annotation, Snapshot, StackId, TraceEntry};

use super::final_state::FinalState;
use super::lives::Lives;
use super::mark::HistoryMark;

/// One step, and the entry that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryStep<'a> {
    /// Position of the entry in the device's trace; the next one for what stands between entries.
    pub entry_idx: usize,
    /// What happened.
    pub what: HistoryChange<'a>,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistoryChange<'a> {
    /// A block begins to live. The stream is a dense number.
    Allocate {
        /// Its number, from 1.
        id: u64,
        /// First address.
        address: u64,
        /// Bytes asked for.
        bytes: u64,
        /// A dense number; the default stream is 0.
        stream: u64,
        /// Where it was allocated; `None` when the history does not say.
        stack: Option<StackId>,
    },
    /// It ends.
    Free {
        /// Its number.
        id: u64,
    },
    /// Segment memory came or went.
    Reserve {
        /// First address.
        address: u64,
        /// Bytes that came, or went when negative.
        bytes: i128,
    },
    /// Nothing happens to memory.
    Mark(HistoryMark<'a>),
}

/// The steps of one device's history with addresses and segments, as an iterator. What
/// [`HistoryEvents`](crate::HistoryEvents) makes a trace of.
///
/// ```
/// use neuronx_mem_replay::{HistoryChange, HistorySteps};
/// use neuronx_mem_snapshot::{Action, Snapshot, TraceEntry};
///
/// let mut snapshot = Snapshot::new();
/// snapshot.push_entry(0, TraceEntry::new(Action::SegmentAlloc).with_addr(0x1000).with_size_bytes(4096));
/// let changes: Vec<_> = HistorySteps::new(&snapshot, 0).map(|step| step.what).collect();
/// assert_eq!(changes, [HistoryChange::Reserve { address: 0x1000, bytes: 4096 }]);
/// ```
#[derive(Clone, Debug)]
pub struct HistorySteps<'a> {
    snapshot: &'a Snapshot,
    entries: &'a [TraceEntry],
    annotations: Vec<&'a Annotation>,
    final_state: FinalState,
    ending: Action,
    lives: Lives,
    streams: HashMap<u64, u64>,
    queue: VecDeque<HistoryStep<'a>>,
    next_idx: usize,
    next_annotation: usize,
    is_done: bool,
}

/// A block that lived before the first event.
struct Earlier {
    address: u64,
    bytes: u64,
    stream: u64,
    stack: Option<StackId>,
}

impl<'a> HistorySteps<'a> {
    /// The history of one device. Looks through it once for what lived before: O(entries · log blocks).
    #[must_use]
    pub fn new(snapshot: &'a Snapshot, device_idx: usize) -> Self {
        let entries = snapshot.trace(device_idx);
        let is_here = |annotation: &&Annotation| {
            annotation.device().is_none_or(|device| usize::try_from(device) == Ok(device_idx))
        };
        let final_state = FinalState::of(snapshot, device_idx);
        let mut steps = Self {
            snapshot,
            entries,
            annotations: snapshot.external_annotations.iter().flatten().filter(is_here).collect(),
            ending: ending(entries, &final_state),
            final_state,
            lives: Lives::default(),
            streams: HashMap::new(),
            queue: VecDeque::new(),
            next_idx: 0,
            next_annotation: 0,
            is_done: false,
        };
        steps.begin_with(&steps.earlier());
        steps
    }

    /// Bytes of segments before the first event, as the final state and the events imply.
    #[must_use]
    pub fn reserved_before(&self) -> u64 {
        let change: i128 = self.entries.iter().map(reserved_change).sum();
        u64::try_from(i128::from(self.final_state.reserved_bytes) - change).unwrap_or(0)
    }

    /// The entries themselves.
    #[must_use]
    pub fn entries(&self) -> &'a [TraceEntry] {
        self.entries
    }

    /// The blocks that no event began, in the order of their addresses.
    fn earlier(&self) -> Vec<Earlier> {
        let mut known: HashSet<u64> = HashSet::new();
        let mut earlier = Vec::new();
        for entry in self.entries {
            let Some(address) = block_address(entry) else { continue };
            let is_first = match entry.action() {
                Action::Alloc => {
                    known.insert(address);
                    false
                }
                action => action == self.ending && known.insert(address),
            };
            if is_first {
                let (bytes, stream) = (entry.size_bytes().unwrap_or(0), entry.stream().unwrap_or(0));
                earlier.push(Earlier { address, bytes, stream, stack: None });
            }
        }
        for block in self.final_state.active().filter(|block| !known.contains(&block.address)) {
            let (address, bytes) = (block.address, block.bytes());
            earlier.push(Earlier { address, bytes, stream: block.stream, stack: block.stack });
        }
        earlier.sort_by_key(|block| block.address);
        earlier
    }

    fn begin_with(&mut self, earlier: &[Earlier]) {
        if earlier.is_empty() {
            return;
        }
        self.push(HistoryChange::Mark(HistoryMark::Baseline));
        for block in earlier {
            self.begin(block.address, block.bytes, block.stream, block.stack);
        }
        self.push(HistoryChange::Mark(HistoryMark::History));
    }

    /// One entry further, or to the end.
    fn advance(&mut self) {
        let Some(entry) = self.entries.get(self.next_idx) else { return self.finish() };
        self.push_annotations(entry.time_us());
        self.apply(entry);
        self.next_idx += 1;
    }

    fn apply(&mut self, entry: &TraceEntry) {
        let stacks = self.snapshot.stacks();
        match (entry.action(), block_address(entry)) {
            (Action::Alloc, Some(address)) => {
                let bytes = entry.size_bytes().unwrap_or(0);
                while let Some(life) = self.lives.end_overlapping(address, bytes) {
                    self.push(HistoryChange::Free { id: life.id });
                }
                self.begin(address, bytes, entry.stream().unwrap_or(0), entry.stack());
            }
            (action, Some(address)) if action == self.ending => self.end(address),
            (Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap, _) => {
                self.push(HistoryChange::Reserve {
                    address: entry.addr().unwrap_or(0),
                    bytes: reserved_change(entry),
                });
            }
            _ => {
                if let Some(mark) = HistoryMark::of(entry, stacks) {
                    self.push(HistoryChange::Mark(mark));
                }
            }
        }
    }

    fn begin(&mut self, address: u64, bytes: u64, raw_stream: u64, stack: Option<StackId>) {
        let id = self.lives.begin(address, bytes);
        let stream = self.dense(raw_stream);
        self.push(HistoryChange::Allocate { id, address, bytes, stream, stack });
    }

    fn end(&mut self, address: u64) {
        if let Some(life) = self.lives.end(address) {
            self.push(HistoryChange::Free { id: life.id });
        }
    }

    /// The default stream stays 0; the others are numbered as they first appear.
    fn dense(&mut self, raw_stream: u64) -> u64 {
        if raw_stream == 0 {
            return 0;
        }
        let next = self.streams.len() as u64 + 1;
        *self.streams.entry(raw_stream).or_insert(next)
    }

    /// Annotations that come before a time; all that are left without one.
    fn push_annotations(&mut self, before: Option<u64>) {
        while let Some(annotation) = self.annotations.get(self.next_annotation) {
            let stacks = self.snapshot.stacks();
            let name = annotation.name(stacks).unwrap_or_default();
            let is_end = annotation.stage(stacks) == Some("END");
            let time_us = annotation.time_us().unwrap_or(0);
            // Of one microsecond, what a range holds stands between its begin and its end.
            if before.is_some_and(|before| if is_end { time_us >= before } else { time_us > before }) {
                return;
            }
            self.next_annotation += 1;
            self.push(HistoryChange::Mark(if is_end {
                HistoryMark::End(name)
            } else {
                HistoryMark::Begin(name)
            }));
        }
    }

    /// What is left: annotations, and what the final state shows and no event told.
    fn finish(&mut self) {
        self.is_done = true;
        self.push_annotations(None);
        let state = std::mem::take(&mut self.final_state);
        let is_told = |address: u64, bytes: u64| {
            let block = state.at(address);
            block.is_some_and(|block| block.requested_bytes.is_none_or(|requested| requested == bytes))
        };
        let freed = |(address, life): &(u64, super::lives::Life)| {
            state.covers(*address) && !is_told(*address, life.requested_bytes)
        };
        let freed: Vec<u64> = self.lives.iter().filter(freed).map(|(address, _)| address).collect();
        let n_active_unknown = state.active().filter(|block| self.lives.at(block.address).is_none()).count();
        if freed.is_empty() && n_active_unknown == 0 {
            return;
        }
        self.push(HistoryChange::Mark(HistoryMark::Unrecorded));
        freed.into_iter().for_each(|address| self.end(address));
        for block in state.active() {
            if self.lives.at(block.address).is_none() {
                self.begin(block.address, block.bytes(), block.stream, block.stack);
            }
        }
    }

    fn push(&mut self, what: HistoryChange<'a>) {
        self.queue.push_back(HistoryStep { entry_idx: self.next_idx, what });
    }
}

impl<'a> Iterator for HistorySteps<'a> {
    type Item = HistoryStep<'a>;

    fn next(&mut self) -> Option<HistoryStep<'a>> {
        loop {
            if let Some(step) = self.queue.pop_front() {
                return Some(step);
            }
            if self.is_done {
                return None;
            }
            self.advance();
        }
    }
}

/// The action that ends lives. A recording that skips completions has only the requests to go by.
fn ending(entries: &[TraceEntry], final_state: &FinalState) -> Action {
    let is_waiting = |address| final_state.at(address).is_some_and(|block| block.is_pending);
    let is_over = |entry: &TraceEntry| {
        entry.action() == Action::FreeRequested
            && block_address(entry).is_some_and(|address| !is_waiting(address))
    };
    let has_completed = entries.iter().any(|entry| entry.action() == Action::FreeCompleted);
    if has_completed || !entries.iter().any(is_over) { Action::FreeCompleted } else { Action::FreeRequested }
}

/// Address of a block; a request of no bytes has the null address and no block.
fn block_address(entry: &TraceEntry) -> Option<u64> {
    entry.addr().filter(|address| *address != 0)
}

fn reserved_change(entry: &TraceEntry) -> i128 {
    let bytes = i128::from(entry.size_bytes().unwrap_or(0));
    match entry.action() {
        Action::SegmentAlloc | Action::SegmentMap => bytes,
        Action::SegmentFree | Action::SegmentUnmap => -bytes,
        _ => 0,
    }
}
