//! What the device's lock protects of the memory history: the ring, the stacks of live blocks, the
//! text that the program attaches. Off, it is one branch; it captures no stack itself.

use std::fmt;

use neuronx_mem_pool::{BlockId, Freed};
use neuronx_mem_snapshot::history::{Event, History, RecordOptions, Recording};
use neuronx_mem_snapshot::{Action, StackId};
use neuronx_mem_stream::StreamId;

use super::Clock;

pub(super) struct Recorder {
    /// Events or live stacks are wanted: the one thing that the hot path looks at.
    is_on: bool,
    history: History,
    clock: Clock,
    /// Stack of each live block by slot; stale for others.
    block_stacks: Vec<Option<StackId>>,
    user_metadata: String,
}

impl Recorder {
    pub(super) fn new(clock: Clock) -> Self {
        let history = History::new();
        Self { is_on: false, history, clock, block_stacks: Vec::new(), user_metadata: String::new() }
    }

    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    pub(super) fn history(&self) -> &History {
        &self.history
    }

    pub(super) fn configure(&mut self, options: &RecordOptions) {
        self.history.configure(options);
        let is_on = options.recording != Recording::Off;
        if is_on && !self.is_on {
            // Blocks that came while recording was off have no stack.
            self.block_stacks = Vec::new();
        }
        self.is_on = is_on;
    }

    /// Forgets events and stacks: their numbers mean nothing any more.
    pub(super) fn forget(&mut self) {
        self.history.clear();
        self.block_stacks = Vec::new();
    }

    pub(super) fn set_user_metadata(&mut self, text: &str) {
        text.clone_into(&mut self.user_metadata);
    }

    pub(super) fn block_stack(&self, id: BlockId) -> Option<StackId> {
        self.block_stacks.get(id.slot() as usize).copied().flatten()
    }

    #[inline(always)]
    pub(super) fn block_allocated(&mut self, id: BlockId, event: &BlockEvent, stack: Option<StackId>) {
        // Without stacks the table stays empty, and an empty table says that no block has one.
        if stack.is_some() || !self.block_stacks.is_empty() {
            self.set_block_stack(id, stack);
        }
        let time_us = (self.clock)();
        self.record(event.at(Action::Alloc, time_us).with_stack(stack));
    }

    fn set_block_stack(&mut self, id: BlockId, stack: Option<StackId>) {
        let slot = id.slot() as usize;
        if self.block_stacks.len() <= slot {
            self.block_stacks.resize(slot + 1, None);
        }
        self.block_stacks[slot] = stack;
    }

    /// Notes the owner's free, and its completion when that came at once.
    #[inline(always)]
    pub(super) fn free_requested(&mut self, event: &BlockEvent, stack: Option<StackId>, is_completed: bool) {
        let time_us = (self.clock)();
        self.record(event.at(Action::FreeRequested, time_us).with_stack(stack));
        if is_completed {
            self.record(event.at(Action::FreeCompleted, time_us).with_stack(stack));
        }
    }

    #[inline(never)]
    pub(super) fn free_completed(&mut self, event: &BlockEvent) {
        let time_us = (self.clock)();
        self.record(event.at(Action::FreeCompleted, time_us));
    }

    pub(super) fn segment(&mut self, action: Action, event: &BlockEvent, stack: Option<StackId>) {
        if self.is_on {
            let time_us = (self.clock)();
            self.record(event.at(action, time_us).with_stack(stack));
        }
    }

    pub(super) fn out_of_memory(
        &mut self,
        rounded_bytes: u64,
        device_free_bytes: u64,
        stack: Option<StackId>,
    ) {
        if self.is_on {
            let event = Event::new(Action::Oom, (self.clock)()).with_size_bytes(rounded_bytes);
            self.record(event.with_device_free_bytes(device_free_bytes).with_stack(stack));
        }
    }

    /// Marks that a snapshot was taken; seen in the next one.
    pub(super) fn snapshot_taken(&mut self, active_bytes: u64) {
        if self.is_on {
            self.record(Event::new(Action::Snapshot, (self.clock)()).with_size_bytes(active_bytes));
        }
    }

    #[inline(always)]
    fn record(&mut self, event: Event<'_>) {
        let text = self.user_metadata.as_str();
        self.history.record(&event.with_user_metadata(text));
    }
}

/// Where and how large: what all events of blocks and segments say.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockEvent {
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) stream: StreamId,
}

impl BlockEvent {
    pub(super) fn of_freed(address: u64, freed: &Freed, stream: StreamId) -> Self {
        Self { address, bytes: freed.requested_bytes, stream }
    }

    #[inline(always)]
    fn at(&self, action: Action, time_us: u64) -> Event<'static> {
        let event = Event::new(action, time_us).with_addr(self.address).with_size_bytes(self.bytes);
        event.with_stream(u64::from(self.stream.0))
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("is_on", &self.is_on).finish_non_exhaustive()
    }
}
