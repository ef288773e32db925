//! A recording from a replay: the allocator's own sums and addresses, noted after every event.

use std::collections::BTreeMap;

use neuronx_mem::pool::{BlockId, PoolKind, SegmentView};
use neuronx_mem::stats::StatsReader;
use neuronx_mem::{Device, Handle};
use neuronx_mem_replay::{
    Event, Input, Outcome, Progress, Replay, ReplayOptions, ReplayReport, SiteId, Sites,
};
use neuronx_mem_snapshot::StackId;

use super::allocations::{Allocation, AllocationId, Allocations, STILL_LIVE};
use super::events::{EventKind, Events};
use super::marks::{Mark, MarkKind, OutOfMemoryMark};
use super::segments::SegmentLife;
use super::timeline::{Timeline, Totals};
use super::{Origin, Recording};
use crate::ViewError;

/// See [`Recording::replayed`].
pub(super) fn recording(input: &Input, options: &ReplayOptions) -> Result<Recording, ViewError> {
    let mut notes = Notes::new(input);
    let outcome = Replay::new(*options).observe(input.trace().events(), |progress| notes.add(progress))?;
    if notes.is_full {
        return Err(ViewError::TooLarge { input: input.name().to_owned(), limit: u32::MAX });
    }
    Ok(notes.finish(outcome))
}

/// A block that was freed and whose deallocation waits.
struct Waiting {
    block: BlockId,
    id: AllocationId,
}

struct Notes<'a> {
    input: &'a Input,
    events: Events,
    timeline: Timeline,
    allocations: Allocations,
    /// The allocation in each slot of the pool.
    tenants: Vec<u32>,
    /// Live tensors of no bytes, by their numbers in the trace.
    empty: BTreeMap<u64, AllocationId>,
    waiting: Vec<Waiting>,
    /// Positions in `segments` by address.
    held: BTreeMap<u64, usize>,
    segments: Vec<SegmentLife>,
    marks: Vec<Mark>,
    sites: Sites,
    phase: Box<str>,
    /// The site of the current phase, for tensors without a stack.
    phase_site: Option<SiteId>,
    reader: Option<StatsReader>,
    n_device_calls: u64,
    is_full: bool,
}

impl<'a> Notes<'a> {
    fn new(input: &'a Input) -> Self {
        let n_events = usize::try_from(input.n_events()).unwrap_or(0);
        let mut timeline = Timeline::with_capacity(n_events + 2);
        timeline.push(0, 0, 0);
        Self {
            input,
            events: Events::with_capacity(n_events + 1),
            timeline,
            allocations: Allocations::with_capacity(n_events / 2 + 1),
            tenants: Vec::new(),
            empty: BTreeMap::new(),
            waiting: Vec::new(),
            held: BTreeMap::new(),
            segments: Vec::new(),
            marks: Vec::new(),
            sites: Sites::new(input.table().clone()),
            phase: Box::default(),
            phase_site: None,
            reader: None,
            n_device_calls: 0,
            is_full: false,
        }
    }

    #[inline]
    fn add(&mut self, progress: &Progress<'_>) {
        let Progress { number: now, event, handle, device, .. } = *progress;
        let (kind, subject) = match event {
            Event::Allocate { id, bytes, stream } => {
                let subject = self.allocate(now, *id, *bytes, *stream, handle);
                (EventKind::Allocate, subject)
            }
            Event::Free { id } => (EventKind::Free, self.free(now, *id, handle, device)),
            Event::RecordStream { id, .. } => (EventKind::RecordStream, self.tenant(*id, handle)),
            Event::Synchronize => (EventKind::Synchronize, None),
            Event::Mark(label) => {
                self.mark(now, label);
                (EventKind::Mark, None)
            }
        };
        self.settle(now, device);
        self.note(now, kind, subject, device);
    }

    fn note(&mut self, now: u64, kind: EventKind, subject: Option<AllocationId>, device: &Device) {
        self.events.push(kind, subject);
        let reader = self.reader.get_or_insert_with(|| device.stats_reader());
        let (reserved, allocated, active) =
            (reader.memory_reserved(), reader.memory_allocated(), reader.memory_active());
        // Segments come and go only while a request is served. Recovery may exchange some for others of
        // the same size, so the sum does not tell; calls of the runtime do.
        if matches!(kind, EventKind::Allocate | EventKind::OutOfMemory) {
            let counters = reader.read().counters();
            let n_device_calls = counters.device_allocations + counters.device_frees;
            if n_device_calls != self.n_device_calls {
                self.n_device_calls = n_device_calls;
                self.follow_segments(now, device);
            }
        }
        self.timeline.push(reserved, allocated, active);
    }

    fn allocate(
        &mut self,
        now: u64,
        number: u64,
        bytes: u64,
        stream: u64,
        handle: Option<Handle>,
    ) -> Option<AllocationId> {
        let site = self.site();
        let (address, block_bytes) = handle.map_or((0, 0), |handle| (handle.address, handle.block_bytes));
        let (birth, death, trace_id) = (now, STILL_LIVE, None);
        let new = Allocation { bytes, block_bytes, address, birth, death, stream, site, trace_id };
        let Some(id) = self.allocations.push(&new) else {
            self.is_full = true;
            return None;
        };
        match handle {
            None => _ = self.empty.insert(number, id),
            Some(handle) => {
                let slot = handle.id.slot() as usize;
                if slot >= self.tenants.len() {
                    self.tenants.resize(slot + 1, u32::MAX);
                }
                self.tenants[slot] = id.0;
            }
        }
        Some(id)
    }

    fn tenant(&self, number: u64, handle: Option<Handle>) -> Option<AllocationId> {
        match handle {
            None => self.empty.get(&number).copied(),
            Some(handle) => self.tenants.get(handle.id.slot() as usize).copied().map(AllocationId),
        }
    }

    fn free(
        &mut self,
        now: u64,
        number: u64,
        handle: Option<Handle>,
        device: &Device,
    ) -> Option<AllocationId> {
        let id = self.tenant(number, handle)?;
        match handle {
            None => _ = self.empty.remove(&number),
            // Most deallocations run at once; only then is the handle stale.
            Some(handle) if device.inspect(|pool| pool.block(handle.id)).is_some() => {
                self.waiting.push(Waiting { block: handle.id, id });
                return Some(id);
            }
            Some(_) => {}
        }
        self.end(now, id);
        Some(id)
    }

    fn end(&mut self, now: u64, id: AllocationId) {
        self.allocations.deaths[id.0 as usize] = now;
    }

    /// Ends the lives whose deallocation has run meanwhile.
    #[inline]
    fn settle(&mut self, now: u64, device: &Device) {
        if self.waiting.is_empty() {
            return;
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.retain(|it| {
            let is_waiting = device.inspect(|pool| pool.block(it.block)).is_some();
            if !is_waiting {
                self.end(now, it.id);
            }
            is_waiting
        });
        self.waiting = waiting;
    }

    /// Notes which segments came and went.
    fn follow_segments(&mut self, now: u64, device: &Device) {
        let views: Vec<SegmentView> = device.inspect(|pool| pool.segments().collect());
        let now_held: BTreeMap<u64, SegmentView> = views.into_iter().map(|it| (it.address, it)).collect();
        let is_gone = |(address, idx): &(&u64, &usize)| {
            now_held.get(*address).is_none_or(|it| it.bytes != self.segments[**idx].bytes)
        };
        let gone: Vec<u64> = self.held.iter().filter(is_gone).map(|(address, _)| *address).collect();
        for address in gone {
            if let Some(idx) = self.held.remove(&address) {
                self.segments[idx].death = now;
            }
        }
        for (address, view) in now_held {
            if self.held.contains_key(&address) {
                continue;
            }
            self.held.insert(address, self.segments.len());
            self.segments.push(SegmentLife {
                address,
                bytes: view.bytes,
                birth: now,
                death: STILL_LIVE,
                is_small: Some(view.kind == PoolKind::Small),
                is_private: false,
                stream: None,
            });
        }
    }

    fn mark(&mut self, now: u64, label: &str) {
        self.marks.push(Mark { event: now, kind: MarkKind::Label, label: label.into() });
        self.phase = label.into();
        self.phase_site = None;
    }

    fn site(&mut self) -> SiteId {
        let stack = self.input.stack(self.allocations.len());
        if stack != StackId::EMPTY {
            return self.sites.intern(stack, "");
        }
        let (sites, phase) = (&mut self.sites, &self.phase);
        *self.phase_site.get_or_insert_with(|| sites.intern(stack, phase))
    }

    fn finish(mut self, outcome: Outcome) -> Recording {
        let Outcome { report, device, .. } = outcome;
        let mut ooms = Vec::new();
        if let Some(oom) = &report.out_of_memory {
            let now = oom.event;
            self.settle(now, &device);
            self.note(now, EventKind::OutOfMemory, None, &device);
            ooms.push(OutOfMemoryMark {
                event: now,
                bytes: oom.error.requested_bytes,
                device_free_bytes: None,
                message: oom.error.to_string().into(),
            });
        }
        let mut segments = self.segments;
        segments.sort_by_key(|segment| (segment.birth, segment.address));
        Recording {
            name: self.input.name().to_owned(),
            device_total_bytes: Some(report.device_total_bytes),
            totals: totals(&report),
            events: self.events,
            timeline: self.timeline,
            allocations: self.allocations,
            segments,
            marks: self.marks,
            ooms,
            sites: self.sites,
            n_skipped: report.skipped.total(),
            n_dropped: 0,
            origin: Origin::Replay(Box::new(report)),
        }
    }
}

fn totals(report: &ReplayReport) -> Totals {
    Totals {
        n_events: report.events,
        reserved_peak_bytes: report.reserved_peak_bytes,
        allocated_peak_bytes: report.allocated_peak_bytes,
        active_peak_bytes: report.active_peak_bytes,
        reserved_bytes: report.reserved_bytes,
        allocated_bytes: report.allocated_bytes,
        active_bytes: report.active_bytes,
        peak_event: report.peak_event.unwrap_or(0),
        n_ooms: report.num_ooms,
    }
}
