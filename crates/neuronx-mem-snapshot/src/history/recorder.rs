//! The recorder. Knows whether to keep an event and with which stack; refuses to decide when one
//! happens or what time it is.

use super::metadata::{MetadataId, MetadataTable};
use super::ring::Ring;
use super::{Event, RecordOptions, Recording, StackContext, StackProvider};
use crate::model::{Action, PoolId, StackId, StackTable, StrId};

/// A device's history: a ring of events, oldest overwritten, with stacks stored once.
///
/// Meant to sit behind the device's lock. An event costs one branch while recording is off, some
/// nanoseconds while it is on, and no allocation once the ring has its size and the stack is known.
#[derive(Clone, Debug)]
pub struct History {
    /// The only thing that [`record`](Self::record) looks at while recording is off.
    is_recording: bool,
    pub(super) options: RecordOptions,
    pub(super) ring: Ring<Record>,
    pub(super) stacks: StackTable,
    pub(super) metadata: MetadataTable,
    next_trace_id: u64,
    n_dropped: u64,
}

/// One event as kept, 56 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) time_us: u64,
    /// As [`Event::addr_or_free`].
    pub(super) addr_or_free: u64,
    pub(super) size_bytes: u64,
    pub(super) stream: u64,
    pub(super) trace_id: u64,
    pub(super) stack: Option<StackId>,
    pub(super) metadata: MetadataId,
    pub(super) pool: PoolId,
    pub(super) action: StrId,
}

const _: () = assert!(size_of::<Record>() == 56, "a record is compact");

/// A place in the ring that has yet to be written.
impl Default for Record {
    fn default() -> Self {
        Self {
            time_us: 0,
            addr_or_free: 0,
            size_bytes: 0,
            stream: 0,
            trace_id: 0,
            stack: None,
            metadata: 0,
            pool: PoolId::DEFAULT,
            action: Action::Alloc.text_id(),
        }
    }
}

impl Default for History {
    fn default() -> Self {
        Self::new()
    }
}

impl History {
    /// A history that is off.
    #[must_use]
    pub fn new() -> Self {
        let options = RecordOptions::builder().recording(Recording::Off).build();
        Self {
            is_recording: false,
            options,
            ring: Ring::new(usize::MAX),
            stacks: StackTable::new(),
            metadata: MetadataTable::new(),
            next_trace_id: 1,
            n_dropped: 0,
        }
    }

    /// Switches recording on or off.
    ///
    /// Off forgets the events, as PyTorch does; on keeps them unless `clear_history` is set. A lower
    /// bound drops the oldest. Trace ids go on counting in every case.
    pub fn configure(&mut self, options: &RecordOptions) {
        if options.clear_history || options.recording == Recording::Off {
            self.clear();
        }
        for record in self.ring.set_max_items(options.bound(size_of::<Record>())) {
            self.metadata.release(record.metadata);
            self.n_dropped += 1;
        }
        self.options = options.clone();
        self.is_recording = options.recording == Recording::All;
    }

    /// The options in force.
    #[must_use]
    pub fn options(&self) -> &RecordOptions {
        &self.options
    }

    /// Forgets all events and the count of dropped ones; stacks stay, live blocks refer to them.
    pub fn clear(&mut self) {
        self.ring.clear();
        self.metadata = MetadataTable::new();
        self.n_dropped = 0;
    }

    /// Whether events are recorded.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.is_recording
    }

    /// Whether a caller should capture a stack for an event of this action: for the event itself or,
    /// when it takes memory, for the block that it makes.
    #[must_use]
    pub fn wants_stack(&self, action: Action) -> bool {
        if self.options.recording == Recording::Off {
            return false;
        }
        match StackContext::wanted_by(action) {
            None => false,
            // Live blocks carry their stack one level below the events.
            Some(StackContext::Alloc) => self.options.context >= StackContext::State,
            Some(level) => self.is_recording && self.options.context >= level,
        }
    }

    /// Records an event; gives its trace id, or `None` if it was not kept.
    ///
    /// A stack that the options do not want on this action is left out. Cost: O(1).
    #[inline(always)]
    pub fn record(&mut self, event: &Event<'_>) -> Option<u64> {
        if !self.is_recording {
            return None;
        }
        self.keep(event)
    }

    /// Records an event with a stack captured now, if the options want one.
    #[inline]
    pub fn record_with(&mut self, event: &Event<'_>, provider: &mut dyn StackProvider) -> Option<u64> {
        if !self.is_recording {
            return None;
        }
        let mut event = *event;
        if event.stack.is_none() && self.wants_stack(event.action) {
            event.stack = provider.capture(&mut self.stacks);
        }
        self.keep(&event)
    }

    /// The table of stacks that events refer to.
    #[must_use]
    pub fn stacks(&self) -> &StackTable {
        &self.stacks
    }

    /// The table, to intern stacks before an event is recorded.
    pub fn stacks_mut(&mut self) -> &mut StackTable {
        &mut self.stacks
    }

    /// Number of events kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether no event is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ring.len() == 0
    }

    /// Events that were overwritten since the last clearing.
    #[must_use]
    pub fn n_dropped(&self) -> u64 {
        self.n_dropped
    }

    /// In line, so that neither event nor record is put together in memory first: copying one right
    /// after it was written field by field stalls for longer than all the rest takes.
    #[inline(always)]
    fn keep(&mut self, event: &Event<'_>) -> Option<u64> {
        if self.options.skip_actions.contains(event.action) {
            return None;
        }
        let is_wanted = event.stack.is_some()
            && StackContext::wanted_by(event.action).is_some_and(|level| self.options.context >= level);
        let trace_id = self.next_trace_id;
        self.next_trace_id += 1;
        let record_metadata = self.metadata.acquire(event.user_metadata);
        let Self { ring, metadata, n_dropped, .. } = self;
        let place = ring.next_place(|oldest| {
            metadata.release(oldest.metadata);
            *n_dropped += 1;
        });
        let Some(place) = place else {
            metadata.release(record_metadata);
            *n_dropped += 1;
            return Some(trace_id);
        };
        place.time_us = event.time_us;
        place.addr_or_free = event.addr_or_free;
        place.size_bytes = event.size_bytes;
        place.stream = event.stream;
        place.trace_id = trace_id;
        place.stack = if is_wanted { event.stack } else { None };
        place.metadata = record_metadata;
        place.pool = event.pool;
        place.action = event.action.text_id();
        Some(trace_id)
    }
}
