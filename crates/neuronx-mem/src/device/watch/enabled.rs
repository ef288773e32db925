//! With the detector: it is told of every block, free, record and wait, under the device's lock. What
//! touches device memory comes after the lock, next door; what the program says of its uses likewise.

use std::collections::BTreeMap;

use neuronx_mem_detector::{Detector, Finding, NewBlock, Poisoned, Quarantine};
use neuronx_mem_pool::{BlockId, Placement, Request};
use neuronx_mem_snapshot::StackId;
use neuronx_mem_snapshot::history::NativeStacks;
use neuronx_mem_stream::{FreeQueue, StreamId, Ticket};

use crate::DeviceRuntime;
use crate::builder::Settings;
use crate::device::State;
use crate::device::allocate::Caller;
use crate::device::capture::Capture;

/// Stacks for all allocations and frees: native ones, until the program sets a better source.
pub(in crate::device) fn new_capture(settings: &Settings) -> Capture {
    match settings.detector {
        Some(_) => Capture::for_all(Box::new(NativeStacks::new())),
        None => Capture::new(),
    }
}

/// The detector of a device, where one was asked for.
#[derive(Debug)]
pub(in crate::device) struct Watch {
    pub(super) watched: Option<Box<Watched>>,
}

#[derive(Debug)]
pub(super) struct Watched {
    pub(super) detector: Detector<StackId>,
    pub(super) quarantine: Quarantine<BlockId>,
    /// Fill what is freed, and look before it is used again.
    pub(super) is_poisoning: bool,
    /// Deallocations that have run and whose memory has not been filled yet.
    pub(super) to_fill: Vec<BlockId>,
    /// What a block's owner-to-be must not get before somebody has looked at it.
    pub(super) to_verify: BTreeMap<u64, Vec<Poisoned>>,
    /// The work that a block waits for on its own stream.
    pub(super) waits_for: BTreeMap<u64, u64>,
    /// Findings that nobody was told of.
    pub(super) unsaid: Vec<Finding<StackId>>,
}

impl Watch {
    pub(in crate::device) fn new(device: u32, settings: &Settings, runtime: &dyn DeviceRuntime) -> Self {
        let watched = settings.detector.map(|options| {
            Box::new(Watched {
                detector: Detector::new(device, options),
                quarantine: Quarantine::new(options.quarantine_bytes),
                is_poisoning: options.is_poisoning && runtime.has_memory_access(),
                to_fill: Vec::new(),
                to_verify: BTreeMap::new(),
                waits_for: BTreeMap::new(),
                unsaid: Vec::new(),
            })
        });
        Self { watched }
    }

    pub(in crate::device) fn is_on(&self) -> bool {
        self.watched.is_some()
    }

    /// Whether freed memory has to stay freed for a while.
    pub(in crate::device) fn keeps_back(&self) -> bool {
        self.watched.as_ref().is_some_and(|watched| watched.detector.options().quarantine_bytes > 0)
    }

    pub(in crate::device) fn allocated(&mut self, request: &Request, placement: &Placement, caller: Caller) {
        let Some(watched) = &mut self.watched else { return };
        let key = placement.id.to_bits();
        let block = NewBlock {
            key,
            address: placement.address,
            extent_bytes: placement.extent_bytes,
            requested_bytes: request.requested_bytes(),
            stream: caller.stream.0,
        };
        let poisoned = watched.detector.allocated(&block, caller.stack);
        if !poisoned.is_empty() {
            watched.to_verify.insert(key, poisoned);
        }
    }

    pub(in crate::device) fn recorded(&mut self, id: BlockId, stream: StreamId) {
        if let Some(watched) = &mut self.watched {
            watched.detector.recorded(id.to_bits(), stream.0);
        }
    }

    pub(in crate::device) fn free_requested(
        &mut self,
        id: BlockId,
        stack: Option<StackId>,
        queue: &FreeQueue<BlockId>,
        owner: StreamId,
    ) {
        let Some(watched) = &mut self.watched else { return };
        watched.waits_for.insert(id.to_bits(), submitted(queue, owner).0);
        let findings = watched.detector.free_requested(id.to_bits(), stack);
        watched.unsaid.extend(findings);
    }

    /// Keeps a block whose deallocation has run until its memory was filled.
    pub(in crate::device) fn hold(&mut self, id: BlockId) {
        if let Some(watched) = &mut self.watched {
            watched.waits_for.remove(&id.to_bits());
            watched.to_fill.push(id);
        }
    }

    /// The next block takes over this one's memory, before its deallocation has run.
    pub(in crate::device) fn taken_over(&mut self, id: BlockId) {
        if let Some(watched) = &mut self.watched {
            let ticket = watched.waits_for.remove(&id.to_bits()).unwrap_or_default();
            watched.detector.taken_over(id.to_bits(), ticket);
        }
    }

    pub(in crate::device) fn host_waited(&mut self, stream: StreamId, ticket: Ticket) {
        if let Some(watched) = &mut self.watched {
            watched.detector.host_waited(stream.0, ticket.0);
        }
    }

    /// The host has waited for all work of a stream.
    pub(in crate::device) fn host_waited_for(&mut self, stream: StreamId, queue: &FreeQueue<BlockId>) {
        if self.is_on() {
            self.host_waited(stream, submitted(queue, stream));
        }
    }
}

impl State {
    /// The last work submitted to `waiting` was a wait for work `ticket` of `awaited`.
    #[cfg(feature = "worker")]
    pub(in crate::device) fn stream_waits(&mut self, waiting: StreamId, awaited: StreamId, ticket: Ticket) {
        self.stream_waits_from(waiting, submitted(&self.queue, waiting), awaited, ticket);
    }

    /// Work of `waiting` from number `at` on waits for work `ticket` of `awaited`.
    pub(super) fn stream_waits_from(
        &mut self,
        waiting: StreamId,
        at: Ticket,
        awaited: StreamId,
        ticket: Ticket,
    ) {
        if let Some(watched) = &mut self.watch.watched {
            watched.detector.stream_waits(waiting.0, at.0, awaited.0, ticket.0);
        }
    }
}

/// The last work submitted to a stream.
pub(super) fn submitted(queue: &FreeQueue<BlockId>, stream: StreamId) -> Ticket {
    queue.cursors(stream).map_or(Ticket(0), |(submitted, _)| submitted)
}
