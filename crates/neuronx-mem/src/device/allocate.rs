//! The path of one request: plan without the lock, serve from the cache under it, grow if need
//! be. Recovery is next door.

use neuronx_mem_pool::{Placement, PoolError, Request};
use neuronx_mem_runtime::{RuntimeError, SegmentHandle};
use neuronx_mem_snapshot::{Action, StackId};
use neuronx_mem_stats::AllocationEvent;
use neuronx_mem_stream::StreamId;

use super::recorder::BlockEvent;
use super::{Device, Handle, State, stats_pool};
use crate::device::free::Owner;
use crate::{AllocError, Block, OutOfMemory, Stream};

impl Device {
    /// Allocates `bytes` of this device in the order of one of its streams; see
    /// [`Allocator::allocate`](crate::Allocator::allocate).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn allocate(&self, bytes: u64, stream: &Stream) -> Result<Block, AllocError> {
        if !self.is_same(stream.device()) {
            let (stream_device, block_device) = (stream.device().id(), self.id());
            return Err(AllocError::ForeignStream { stream_device, block_device });
        }
        let handle = self.allocate_handle(bytes, stream.id())?;
        Ok(Block::new(self.clone(), handle, bytes))
    }

    /// Allocates `bytes` on a stream of this device, for an owner that frees by hand.
    ///
    /// `None` for zero bytes: the request is counted, and there is nothing to free. See
    /// [`Allocator::allocate`](crate::Allocator::allocate) for cost and errors.
    ///
    /// # Errors
    ///
    /// As there, and [`AllocError::Stream`] for a stream that this device does not have.
    #[inline]
    pub fn allocate_handle(&self, bytes: u64, stream: StreamId) -> Result<Option<Handle>, AllocError> {
        self.shared.verified(self.allocate_unwatched(bytes, stream))
    }

    #[inline(always)]
    fn allocate_unwatched(&self, bytes: u64, stream: StreamId) -> Result<Option<Handle>, AllocError> {
        let request = match self.shared.policy.plan(bytes) {
            Ok(request) => request.with_tag(Owner::of(stream).to_tag()),
            Err(error) => return self.refuse(error),
        };
        if self.shared.capture.is_on() {
            return self.allocate_recorded(&request, stream);
        }
        self.allocate_planned::<false>(&request, Caller { stream, stack: None })
    }

    /// The same with an eye on the history, out of line: a history that is off costs one test.
    #[cold]
    #[inline(never)]
    fn allocate_recorded(&self, request: &Request, stream: StreamId) -> Result<Option<Handle>, AllocError> {
        let caller = Caller { stream, stack: self.shared.capture.for_allocate() };
        self.allocate_planned::<true>(request, caller)
    }

    /// Returns what its callers return: to unwrap and wrap a handle again copies it through memory.
    #[inline(always)]
    fn allocate_planned<const IS_RECORDED: bool>(
        &self,
        request: &Request,
        caller: Caller,
    ) -> Result<Option<Handle>, AllocError> {
        let mut state = self.shared.state.lock();
        if caller.stream != StreamId::DEFAULT {
            state.queue.is_idle(caller.stream)?; // known at all?
        }
        if let Some(placement) = state.pool.allocate(request) {
            if IS_RECORDED {
                state.record(request, &placement, caller);
            }
            state.count(request, &placement, caller);
            return Ok(Some(Handle::from(placement)));
        }
        drop(state);
        self.allocate_slowly(request, caller)
    }

    /// Serves a request that the cache could not serve a moment ago.
    #[cold]
    fn allocate_slowly(&self, request: &Request, caller: Caller) -> Result<Option<Handle>, AllocError> {
        let mut growth = self.shared.growth.lock();
        let result = match self.serve(request, caller) {
            Err(AllocError::Runtime(error)) if error.status.is_resource_exhausted() => {
                self.recover(request, caller, &mut growth)
            }
            other => other,
        };
        if result.is_err() {
            self.shared.state.lock().stats.request_without_block();
        }
        drop(growth);
        result.map(|placement| Some(Handle::from(placement)))
    }

    /// One try: the cache again, since another thread may have freed or grown, then the runtime.
    /// The caller holds the growth lock.
    pub(super) fn serve(&self, request: &Request, caller: Caller) -> Result<Placement, AllocError> {
        {
            let mut state = self.shared.state.lock();
            if let Some(placement) = state.pool.allocate(request) {
                state.note(request, &placement, caller);
                return Ok(placement);
            }
            if let Some(placement) = state.reuse_on_stream(request, caller)? {
                return Ok(placement);
            }
        }
        let bytes = self.shared.policy.segment_bytes(request)?;
        self.check_cap(bytes)?;
        let segment = self.shared.runtime.allocate_segment(self.shared.id, bytes)?;
        let mut state = self.shared.state.lock();
        match state.pool.grow(request, segment.address, bytes, segment.handle.0) {
            Ok(placement) => {
                state.stats.segment_allocated(stats_pool(request.kind()), bytes);
                let event = BlockEvent { address: segment.address, bytes, stream: caller.stream };
                state.recorder.segment(Action::SegmentAlloc, &event, caller.stack);
                state.note(request, &placement, caller);
                Ok(placement)
            }
            Err(error) => {
                drop(state);
                self.give_back(segment.handle)?;
                Err(error.into())
            }
        }
    }

    /// Ends a request that has no plan: for no bytes, or for too many.
    #[cold]
    fn refuse(&self, error: PoolError) -> Result<Option<Handle>, AllocError> {
        self.shared.state.lock().stats.request_without_block();
        match error {
            PoolError::ZeroBytes => Ok(None),
            other => Err(other.into()),
        }
    }

    pub(super) fn give_back(&self, segment: SegmentHandle) -> Result<(), RuntimeError> {
        self.shared.runtime.free_segment(self.shared.id, segment)
    }

    pub(super) fn out_of_memory(&self, error: OutOfMemory, caller: Caller) -> AllocError {
        let mut state = self.shared.state.lock();
        state.stats.out_of_memory();
        let in_use = error.reserved_bytes.saturating_add(error.used_by_others_bytes);
        let free_bytes = error.total_bytes.saturating_sub(in_use);
        state.recorder.out_of_memory(error.rounded_bytes, free_bytes, caller.stack);
        drop(state);
        let n_ooms = self.memory_stats().counters().ooms;
        // The first, second, fourth … so that a loop of failures does not flood the log.
        if n_ooms.is_power_of_two() {
            tracing::warn!(target: "neuronx_mem::oom", n_ooms, "{error}");
        }
        AllocError::OutOfMemory(Box::new(error))
    }
}

/// Who asks: for the queue and for the history.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller {
    pub(super) stream: StreamId,
    pub(super) stack: Option<StackId>,
}

impl State {
    /// Counts a served request, and puts it into the history if that is on.
    pub(super) fn note(&mut self, request: &Request, placement: &Placement, caller: Caller) {
        self.record(request, placement, caller);
        self.count(request, placement, caller);
    }

    #[inline(always)]
    fn record(&mut self, request: &Request, placement: &Placement, caller: Caller) {
        if self.recorder.is_on() {
            let (address, bytes) = (placement.address, request.requested_bytes());
            let event = BlockEvent { address, bytes, stream: caller.stream };
            self.recorder.block_allocated(placement.id, &event, caller.stack);
        }
    }

    #[inline(always)]
    fn count(&mut self, request: &Request, placement: &Placement, caller: Caller) {
        self.stats.block_allocated(&AllocationEvent {
            pool: stats_pool(request.kind()),
            block_bytes: placement.block_bytes,
            requested_bytes: request.requested_bytes(),
            split_blocks: placement.split.blocks,
            split_bytes: placement.split.bytes,
        });
        self.watch.allocated(request, placement, caller);
    }
}

impl From<Placement> for Handle {
    #[inline]
    fn from(placement: Placement) -> Self {
        let Placement { id, address, block_bytes, extent_bytes, .. } = placement;
        Self { id, address, block_bytes, extent_bytes }
    }
}
