//! A heap from a replayed trace: the allocator's own pool, and beside each block the event and the
//! stream that it comes from.

use neuronx_mem::Device;
use neuronx_mem::fragmentation::{BlockUse, Pool};
use neuronx_mem::pool::{BlockState, BlockView, PoolKind};
use neuronx_mem_replay::{Event, Outcome, Progress, Replay, ReplayOptions, ReplayReport};
use neuronx_mem_snapshot::StackId;

use super::{Birth, Heap, HeapBlock, HeapSegment};
use crate::{ExplainError, Input};

/// Which moment of a trace is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Moment {
    /// Where the device ran out of memory; where it did not, the peak.
    #[default]
    Decisive,
    /// When allocated memory first reached its peak.
    Peak,
    /// After the last event.
    End,
    /// After this event, from 1.
    Event(u64),
}

/// A replayed trace at one moment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Replayed {
    /// The memory.
    pub heap: Heap,
    /// The event that was the last.
    pub event: u64,
    /// Whether that is the first peak of allocated memory.
    pub is_peak: bool,
    /// The figures of the replay, up to that event when it was chosen by number.
    pub report: ReplayReport,
}

/// What a replay tells beside the allocator's state.
#[derive(Default)]
struct Notes {
    /// By slot of the pool.
    tenants: Vec<Tenant>,
    marks: Vec<(u64, Box<str>)>,
    n_allocations: usize,
}

/// What is known of the tensor in a slot of the pool.
#[derive(Clone, Copy, Default)]
struct Tenant {
    event: u64,
    stream: u64,
    allocation_idx: usize,
}

impl Replayed {
    /// Replays an input up to the moment. O(events), twice where the moment must be found first.
    ///
    /// # Errors
    ///
    /// As [`Replay::run`]; [`ExplainError::NoSuchEvent`].
    pub fn at(input: &Input, options: &ReplayOptions, moment: Moment) -> Result<Self, ExplainError> {
        let until = match moment {
            Moment::Event(event) => Some(event),
            _ => options.until,
        };
        let (mut outcome, mut notes) = pass(input, options, until)?;
        if let Moment::Event(event) = moment
            && outcome.report.events < event
        {
            let n_events = outcome.report.events;
            return Err(ExplainError::NoSuchEvent { input: input.name().to_owned(), event, n_events });
        }
        let mut report = outcome.report;
        let mut event = report.events;
        let is_peak = match moment {
            Moment::Peak => true,
            Moment::Decisive => report.out_of_memory.is_none(),
            Moment::End | Moment::Event(_) => false,
        };
        if is_peak && let Some(peak) = report.peak_event.filter(|peak| *peak < event) {
            (outcome, notes) = pass(input, options, Some(peak))?;
            // What comes after the peak is part of the figures, not of the memory looked at.
            report.allocated_bytes = outcome.report.allocated_bytes;
            event = peak;
        }
        let heap = heap(input, &outcome.device, notes, event);
        Ok(Self { heap, event, is_peak: report.peak_event == Some(event), report })
    }
}

/// One replay, and what was noted on the way.
fn pass(
    input: &Input,
    options: &ReplayOptions,
    until: Option<u64>,
) -> Result<(Outcome, Notes), ExplainError> {
    let mut notes = Notes::default();
    let replay = Replay::new(ReplayOptions { until, ..*options });
    let outcome = replay.observe(input.trace().events(), |progress| notes.add(progress))?;
    Ok((outcome, notes))
}

impl Notes {
    #[inline]
    fn add(&mut self, progress: &Progress<'_>) {
        let stream = match progress.event {
            Event::Allocate { stream, .. } => *stream,
            Event::Mark(label) => return self.marks.push((progress.number, label.clone())),
            _ => return,
        };
        let allocation_idx = self.n_allocations;
        self.n_allocations += 1;
        // Tensors of no bytes have no block.
        let Some(handle) = progress.handle else { return };
        let slot = handle.id.slot() as usize;
        if slot >= self.tenants.len() {
            self.tenants.resize(slot + 1, Tenant::default());
        }
        self.tenants[slot] = Tenant { event: progress.number, stream, allocation_idx };
    }
}

fn heap(input: &Input, device: &Device, notes: Notes, now: u64) -> Heap {
    let layout = device.layout();
    let segments = device.inspect(|pool| {
        let segment = |segment: neuronx_mem::pool::SegmentView| HeapSegment {
            address: segment.address,
            bytes: segment.bytes,
            pool: match segment.kind {
                PoolKind::Small => Pool::Small,
                PoolKind::Large => Pool::Large,
            },
            stream: None,
            is_private: false,
            blocks: pool
                .blocks(&segment)
                .map(|block| heap_block(input, &block, &notes.tenants, now))
                .collect(),
        };
        pool.segments().map(segment).collect()
    });
    let mut heap = Heap {
        segments,
        total_bytes: Some(layout.total_bytes),
        device_free_bytes: None,
        address_range: layout.address_range,
        table: input.table().clone(),
        marks: notes.marks,
    };
    heap.device_free_bytes = Some(layout.total_bytes.saturating_sub(heap.reserved_bytes()));
    heap
}

fn heap_block(input: &Input, block: &BlockView, tenants: &[Tenant], now: u64) -> HeapBlock {
    let state = match block.state {
        BlockState::Free => BlockUse::Free,
        BlockState::Live => BlockUse::Live,
        BlockState::PendingFree => BlockUse::PendingFree,
    };
    let (address, bytes) = (block.address, block.extent_bytes);
    let tenant = tenants.get(block.id.slot() as usize).filter(|_| state != BlockUse::Free);
    let Some(tenant) = tenant else {
        let (stream, stack) = (0, StackId::EMPTY);
        return HeapBlock { address, bytes, requested_bytes: 0, state, stream, stack, birth: None };
    };
    HeapBlock {
        address,
        bytes,
        requested_bytes: block.requested_bytes,
        state,
        stream: tenant.stream,
        stack: input.stack(tenant.allocation_idx),
        birth: Some(Birth {
            event: tenant.event,
            age_events: now.saturating_sub(tenant.event),
            age_us: None,
        }),
    }
}
