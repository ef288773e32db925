//! A recording from a snapshot, as recorded. Knows how the sums of the file come about; replays
//! nothing.

use std::collections::BTreeMap;

use neuronx_mem_replay::{
    HistoryChange, HistoryMark, HistoryStep, HistorySteps, ReplayOptions, SiteId, Sites,
};
use neuronx_mem_snapshot::{Action, PoolId, Segment, Snapshot, StackId, TraceEntry};

use super::allocations::{Allocation, AllocationId, Allocations, STILL_LIVE};
use super::carve::{Carver, Held, Rules};
use super::events::{EventKind, Events};
use super::marks::{Mark, MarkKind, OutOfMemoryMark};
use super::segments::{Ranges, SegmentLife};
use super::timeline::Timeline;
use super::{Origin, Recording};
use crate::ViewError;

/// See [`Recording::of`].
pub(super) fn recording(
    snapshot: &Snapshot,
    device_idx: usize,
    name: &str,
    replay: &ReplayOptions,
) -> Result<Recording, ViewError> {
    let mut reading = Reading::new(snapshot, device_idx);
    for step in HistorySteps::new(snapshot, device_idx) {
        reading.add(&step);
        if reading.is_full {
            return Err(ViewError::TooLarge { input: name.to_owned(), limit: u32::MAX });
        }
    }
    let device_total_bytes = replay.memory_bytes.or_else(|| total_of_ooms(&reading));
    Ok(reading.finish(name, device_total_bytes))
}

struct Reading<'a> {
    snapshot: &'a Snapshot,
    entries: &'a [TraceEntry],
    device_idx: usize,
    /// Sizes of blocks in use at the end, by address, with the bytes asked for.
    at_end: BTreeMap<u64, (u64, Option<u64>)>,
    final_segments: BTreeMap<u64, SegmentLife>,
    /// The last entry that allocates at each of those addresses.
    last_births: BTreeMap<u64, u64>,
    is_baseline: bool,
    events: Events,
    timeline: Timeline,
    allocations: Allocations,
    /// Live ones by the history's own numbers.
    live: BTreeMap<u64, AllocationId>,
    ranges: Ranges,
    carver: Carver,
    marks: Vec<Mark>,
    ooms: Vec<OutOfMemoryMark>,
    sites: Sites,
    phases: Vec<Box<str>>,
    allocated_bytes: u64,
    active_bytes: u64,
    n_inferred: u64,
    /// What the current entry did, if it is known already.
    did: Option<(EventKind, Option<AllocationId>)>,
    fresh_segment: Option<u64>,
    is_full: bool,
}

impl<'a> Reading<'a> {
    fn new(snapshot: &'a Snapshot, device_idx: usize) -> Self {
        let entries = snapshot.trace(device_idx);
        let is_here = |segment: &&Segment| usize::try_from(segment.device().unwrap_or(0)) == Ok(device_idx);
        let mut at_end = BTreeMap::new();
        let mut final_segments = BTreeMap::new();
        let rules = Rules::of(snapshot);
        for segment in snapshot.segments.iter().filter(is_here) {
            let life = final_segment(segment, rules.is_own(), &mut at_end);
            final_segments.insert(life.address, life);
        }
        let mut reading = Self {
            snapshot,
            entries,
            device_idx,
            last_births: last_births(entries, &at_end),
            is_baseline: false,
            at_end,
            final_segments,
            events: Events::with_capacity(entries.len() + 1),
            timeline: Timeline::with_capacity(entries.len() + 2),
            allocations: Allocations::with_capacity(entries.len() / 2 + 1),
            live: BTreeMap::new(),
            ranges: Ranges::default(),
            carver: Carver::new(rules),
            marks: Vec::new(),
            ooms: Vec::new(),
            sites: Sites::new(snapshot.stacks().clone()),
            phases: Vec::new(),
            allocated_bytes: 0,
            active_bytes: 0,
            n_inferred: 0,
            did: None,
            fresh_segment: None,
            is_full: false,
        };
        reading.segments_before();
        reading
    }

    /// The segments before the first entry: those at the end, with the history taken back.
    fn segments_before(&mut self) {
        let mut ranges = Ranges::default();
        for segment in self.final_segments.values() {
            ranges.add(*segment);
        }
        for entry in self.entries.iter().rev() {
            let (address, bytes) = (entry.addr().unwrap_or(0), entry.size_bytes().unwrap_or(0));
            match entry.action() {
                Action::SegmentAlloc | Action::SegmentMap => ranges.remove(address, bytes, 0),
                Action::SegmentFree | Action::SegmentUnmap => ranges.add(self.segment(entry, 0)),
                _ => {}
            }
        }
        for held in ranges.held() {
            self.ranges.add(SegmentLife { birth: 0, death: STILL_LIVE, ..*held });
        }
    }

    /// The event that is being built: how many are complete, baseline not counted.
    fn now(&self) -> u64 {
        self.timeline.reserved_bytes.len() as u64
    }

    fn add(&mut self, step: &HistoryStep<'a>) {
        // The baseline belongs to event 0, what no entry tells to one after the last.
        match step.what {
            HistoryChange::Mark(HistoryMark::Baseline) => {
                self.is_baseline = true;
                return;
            }
            HistoryChange::Mark(HistoryMark::History) => {
                self.is_baseline = false;
                return;
            }
            _ => {}
        }
        let event = if self.is_baseline { 0 } else { step.entry_idx as u64 + 1 };
        self.complete_up_to(event);
        match step.what {
            HistoryChange::Allocate { id, address, bytes, stream, stack } => {
                self.allocate(event, id, address, bytes, stream, stack);
            }
            HistoryChange::Free { id } => self.free(event, id),
            HistoryChange::Reserve { address, bytes } => self.reserve(event, address, bytes),
            HistoryChange::Mark(mark) => self.mark(event, &mark),
            _ => {}
        }
    }

    /// Writes the sums of all events before this one.
    fn complete_up_to(&mut self, event: u64) {
        while self.now() < event {
            self.complete();
        }
    }

    fn complete(&mut self) {
        let now = self.now();
        if now > 0 {
            let (kind, subject) = self.did.take().unwrap_or_else(|| (self.kind_of(now), None));
            self.events.push(kind, subject);
        }
        self.timeline.push(self.ranges.reserved_bytes, self.allocated_bytes, self.active_bytes);
    }

    fn kind_of(&self, event: u64) -> EventKind {
        let entry = usize::try_from(event - 1).ok().and_then(|idx| self.entries.get(idx));
        match entry.map(TraceEntry::action) {
            Some(Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap) => {
                EventKind::Segment
            }
            Some(Action::Oom) => EventKind::OutOfMemory,
            Some(Action::Snapshot | Action::Annotate) => EventKind::Mark,
            _ => EventKind::Other,
        }
    }

    fn allocate(
        &mut self,
        event: u64,
        number: u64,
        address: u64,
        bytes: u64,
        stream: u64,
        stack: Option<StackId>,
    ) {
        let segment = self.ranges.at(address).map(|segment| Held {
            end: segment.address.saturating_add(segment.bytes),
            is_fresh: self.fresh_segment == Some(segment.address),
        });
        let known = self.size_at_end(event, address, bytes);
        self.n_inferred += u64::from(known.is_none());
        let block_bytes = self.carver.take(address, bytes, known, segment);
        let stack = stack.unwrap_or(StackId::EMPTY);
        let phase = if stack == StackId::EMPTY { self.phases.last().map_or("", |it| it) } else { "" };
        let site: SiteId = self.sites.intern(stack, phase);
        let trace_id = self.entry(event).and_then(TraceEntry::trace_id);
        let (birth, death) = (event, STILL_LIVE);
        let new = Allocation { bytes, block_bytes, address, birth, death, stream, site, trace_id };
        let Some(id) = self.allocations.push(&new) else {
            self.is_full = true;
            return;
        };
        self.live.insert(number, id);
        self.allocated_bytes = self.allocated_bytes.saturating_add(block_bytes);
        self.active_bytes = self.active_bytes.saturating_add(bytes);
        self.did = (event > 0).then_some((EventKind::Allocate, Some(id)));
        self.fresh_segment = None;
    }

    /// The size that the file says, for the block that is there at the end.
    fn size_at_end(&self, event: u64, address: u64, bytes: u64) -> Option<u64> {
        let (block_bytes, requested_bytes) = *self.at_end.get(&address)?;
        let is_it = requested_bytes.is_none_or(|requested| requested == bytes);
        let is_last = self.last_births.get(&address).is_none_or(|last| *last <= event);
        (is_it && is_last).then_some(block_bytes)
    }

    fn free(&mut self, event: u64, number: u64) {
        let Some(id) = self.live.remove(&number) else { return };
        let idx = id.0 as usize;
        self.allocations.deaths[idx] = event;
        self.carver.give(self.allocations.addresses[idx]);
        self.allocated_bytes = self.allocated_bytes.saturating_sub(self.allocations.block_bytes[idx]);
        self.active_bytes = self.active_bytes.saturating_sub(self.allocations.bytes[idx]);
        self.did = self.did.or(Some((EventKind::Free, Some(id))));
    }

    fn reserve(&mut self, event: u64, address: u64, bytes: i128) {
        let n_bytes = u64::try_from(bytes.unsigned_abs()).unwrap_or(u64::MAX);
        if bytes < 0 {
            return self.ranges.remove(address, n_bytes, event);
        }
        if let Some(entry) = self.entry(event) {
            self.ranges.add(self.segment(entry, event));
            self.fresh_segment = Some(address);
        }
    }

    fn entry(&self, event: u64) -> Option<&'a TraceEntry> {
        self.entries.get(usize::try_from(event.checked_sub(1)?).ok()?)
    }

    /// A segment as its own entry tells of it; the final state may know more.
    fn segment(&self, entry: &TraceEntry, birth: u64) -> SegmentLife {
        let (address, bytes) = (entry.addr().unwrap_or(0), entry.size_bytes().unwrap_or(0));
        let known = self.final_segments.get(&address).filter(|it| it.bytes == bytes);
        let is_own = self.carver.rules().is_own();
        SegmentLife {
            address,
            bytes,
            birth,
            death: STILL_LIVE,
            is_small: known.and_then(|it| it.is_small),
            is_private: entry.pool().is_some_and(|pool| pool != PoolId::DEFAULT),
            stream: if is_own { None } else { entry.stream() },
        }
    }

    fn mark(&mut self, event: u64, mark: &HistoryMark<'_>) {
        let (kind, label): (_, Box<str>) = match mark {
            HistoryMark::OutOfMemory(bytes) => {
                let device_free_bytes = self.entry(event).and_then(TraceEntry::device_free_bytes);
                let message = Box::default();
                self.ooms.push(OutOfMemoryMark { event, bytes: *bytes, device_free_bytes, message });
                return;
            }
            HistoryMark::Begin(name) => {
                self.phases.push((*name).into());
                (MarkKind::Begin, (*name).into())
            }
            HistoryMark::End(name) => {
                if let Some(idx) = self.phases.iter().rposition(|phase| **phase == **name) {
                    self.phases.remove(idx);
                }
                (MarkKind::End, (*name).into())
            }
            HistoryMark::Annotate(text) => (MarkKind::Annotate, (*text).into()),
            other => (MarkKind::Other, other.label().into()),
        };
        self.marks.push(Mark { event, kind, label });
    }

    fn finish(mut self, name: &str, device_total_bytes: Option<u64>) -> Recording {
        // At least the moment before the first entry, and one moment an entry.
        self.complete_up_to(self.entries.len() as u64);
        self.complete();
        self.reconcile();
        self.times();
        let n_ooms = self.ooms.len() as u64;
        let totals = self.timeline.totals(self.timeline.reserved_bytes.len() as u64 - 1, n_ooms);
        Recording {
            name: name.to_owned(),
            origin: Origin::Snapshot {
                is_own: self.carver.rules().is_own(),
                device_idx: self.device_idx,
                n_inferred: self.n_inferred,
            },
            device_total_bytes,
            totals,
            events: self.events,
            timeline: self.timeline,
            allocations: self.allocations,
            segments: self.ranges.into_lives(),
            marks: self.marks,
            ooms: self.ooms,
            sites: self.sites,
            n_skipped: 0,
            n_dropped: self.snapshot.dropped_entries(),
        }
    }

    /// Where the segments at the end are not those that the history leads to, they are right.
    fn reconcile(&mut self) {
        let bytes = self.final_segments.values().map(|it| it.bytes);
        let is_same = bytes.fold(0, u64::saturating_add) == self.ranges.reserved_bytes;
        if is_same {
            return;
        }
        let event = self.now();
        let held: Vec<SegmentLife> = self.ranges.held().copied().collect();
        for segment in held {
            self.ranges.remove(segment.address, segment.bytes, event);
        }
        for segment in self.final_segments.values() {
            self.ranges.add(SegmentLife { birth: event, death: STILL_LIVE, ..*segment });
        }
        self.did = Some((EventKind::Segment, None));
        self.complete();
    }

    /// A time for every event; none goes back.
    fn times(&mut self) {
        let Some(first) = self.entries.iter().find_map(TraceEntry::time_us) else { return };
        let mut last = first;
        self.timeline.times_us.push(first);
        for entry in self.entries {
            last = last.max(entry.time_us().unwrap_or(last));
            self.timeline.times_us.push(last);
        }
        self.timeline.times_us.resize(self.timeline.reserved_bytes.len(), last);
    }
}

/// A segment of the end, and the sizes of its blocks in use.
fn final_segment(
    segment: &Segment,
    is_own: bool,
    at_end: &mut BTreeMap<u64, (u64, Option<u64>)>,
) -> SegmentLife {
    let address = segment.address().unwrap_or(0);
    let mut next = address;
    for block in segment.blocks() {
        let bytes = block.size_bytes().unwrap_or(0);
        let at = block.address().unwrap_or(next);
        next = at.saturating_add(bytes);
        if block.is_active() {
            at_end.insert(at, (bytes, block.requested_bytes()));
        }
    }
    SegmentLife {
        address,
        bytes: segment.total_bytes().unwrap_or_else(|| next.saturating_sub(address)),
        birth: 0,
        death: STILL_LIVE,
        is_small: Some(segment.is_small()),
        is_private: segment.pool().is_some_and(|pool| pool != PoolId::DEFAULT),
        stream: if is_own { None } else { segment.stream() },
    }
}

/// The last entry that allocates at each address in use at the end.
fn last_births(entries: &[TraceEntry], at_end: &BTreeMap<u64, (u64, Option<u64>)>) -> BTreeMap<u64, u64> {
    let allocations = (1_u64..).zip(entries).filter(|(_, entry)| entry.action() == Action::Alloc);
    let addresses = allocations.filter_map(|(event, entry)| Some((entry.addr()?, event)));
    addresses.filter(|(address, _)| at_end.contains_key(address)).collect()
}

/// Free memory of the device when it ran out, and what was reserved then: nobody else is known.
fn total_of_ooms(reading: &Reading<'_>) -> Option<u64> {
    let oom = reading.ooms.last()?;
    let idx = usize::try_from(oom.event).ok()?;
    let reserved_bytes = reading.timeline.reserved_bytes.get(idx.checked_sub(1)?)?;
    reserved_bytes.checked_add(oom.device_free_bytes?)
}
