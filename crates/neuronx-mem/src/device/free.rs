//! Frees in stream order: at once on idle streams, queued otherwise, and run when the work
//! before them has completed.

use neuronx_mem_pool::{BlockId, Freed, Placement, Request};
use neuronx_mem_snapshot::StackId;
use neuronx_mem_stats::FreeEvent;
use neuronx_mem_stream::{RecordId, StreamId, Ticket};

use super::allocate::Caller;
use super::recorder::BlockEvent;
use super::{Device, Handle, State, stats_pool};
use crate::AllocError;

/// Who owns a block: kept in its record's tag, so that a free needs no look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) stream: StreamId,
    recorded: Option<RecordId>,
}

impl Owner {
    #[inline]
    pub(super) fn of(stream: StreamId) -> Self {
        Self { stream, recorded: None }
    }

    #[inline]
    pub(super) fn to_tag(self) -> u64 {
        let recorded = self.recorded.map_or(0, RecordId::get);
        (u64::from(self.stream.0) << 32) | u64::from(recorded)
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the two halves are taken on purpose")]
    pub(super) fn from_tag(tag: u64) -> Self {
        Self { stream: StreamId((tag >> 32) as u32), recorded: RecordId::from_number(tag as u32) }
    }
}

impl Device {
    /// Frees a block in stream order; see [`Block`](crate::Block). O(log n).
    ///
    /// # Errors
    ///
    /// [`AllocError::Pool`] with a double free or a stale handle.
    #[inline]
    pub fn free_handle(&self, handle: Handle) -> Result<(), AllocError> {
        self.free_named(handle.id, handle.address)
    }

    /// Frees a block by the name in its handle, for owners that keep no more of it: eight bytes a
    /// block. As [`free_handle`](Self::free_handle) otherwise, but that the detector can tell no
    /// address of a name that never was one.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn free_id(&self, id: BlockId) -> Result<(), AllocError> {
        self.free_named(id, 0)
    }

    #[inline(always)]
    fn free_named(&self, id: BlockId, address: u64) -> Result<(), AllocError> {
        if self.shared.capture.is_on() {
            return self.free_recorded(id, address);
        }
        let freed = self.free_in_order::<false>(id, None);
        self.shared.after_free(id, address, None, freed.is_ok());
        freed
    }

    /// The same with an eye on the history, out of line: a history that is off costs one test.
    #[cold]
    #[inline(never)]
    fn free_recorded(&self, id: BlockId, address: u64) -> Result<(), AllocError> {
        let stack = self.shared.capture.for_free();
        let freed = self.free_in_order::<true>(id, stack);
        self.shared.after_free(id, address, stack, freed.is_ok());
        freed
    }

    #[inline(always)]
    fn free_in_order<const IS_RECORDED: bool>(
        &self,
        id: BlockId,
        stack: Option<StackId>,
    ) -> Result<(), AllocError> {
        let mut guard = self.shared.state.lock();
        let State { pool, queue, stats, recorder, watch } = &mut *guard;
        let block = pool.live(id)?;
        let owner = Owner::from_tag(block.tag());
        let ready = queue.enqueue_free(id, block.block_bytes(), owner.stream, owner.recorded)?;
        watch.free_requested(id, stack, queue, owner.stream);
        if IS_RECORDED && recorder.is_on() {
            let (address, bytes) = (block.address(), block.requested_bytes());
            recorder.free_requested(
                &BlockEvent { address, bytes, stream: owner.stream },
                stack,
                ready.is_some() && !watch.is_on(),
            );
        }
        match ready {
            Some(_) if watch.is_on() => {
                block.mark_pending();
                watch.hold(id);
            }
            Some(_) => stats.block_freed(&event(&block.free())),
            None => {
                block.mark_pending();
                stats.set_pending(queue.n_pending());
            }
        }
        Ok(())
    }

    /// Records that a stream of this device uses a block; see
    /// [`Block::record_stream`](crate::Block::record_stream). O(streams recorded for it).
    ///
    /// # Errors
    ///
    /// [`AllocError::Pool`] for a handle of no live block, [`AllocError::Stream`] for an unknown
    /// stream.
    pub fn record_stream_handle(&self, handle: Handle, stream: StreamId) -> Result<(), AllocError> {
        let mut guard = self.shared.state.lock();
        let State { pool, queue, watch, .. } = &mut *guard;
        let mut block = pool.live(handle.id)?;
        let owner = Owner::from_tag(block.tag());
        let recorded = queue.record_stream(owner.recorded, owner.stream, stream)?;
        watch.recorded(handle.id, stream);
        block.set_tag(Owner { recorded, ..owner }.to_tag());
        Ok(())
    }
}

impl State {
    /// Before the pool grows: takes over a block of exactly the right extent whose deallocation
    /// waits for the request's own stream and no other. Stream order makes that safe, and it can
    /// only keep `reserved` down (allocator semantics §5).
    pub(super) fn reuse_on_stream(
        &mut self,
        request: &Request,
        caller: Caller,
    ) -> Result<Option<Placement>, AllocError> {
        if self.watch.keeps_back() {
            return Ok(None);
        }
        let Self { pool, queue, .. } = self;
        let fits = |id| {
            let block = pool.block(id);
            block.is_some_and(|block| {
                block.extent_bytes == request.extent_bytes() && block.kind == request.kind()
            })
        };
        let Some(id) = queue.take_back(caller.stream, fits)? else { return Ok(None) };
        let Some((freed, placement)) = pool.reuse_pending(id, request)? else { return Ok(None) };
        self.stats.block_freed(&event(&freed));
        self.watch.taken_over(id);
        if self.recorder.is_on() {
            let freed = BlockEvent::of_freed(placement.address, &freed, caller.stream);
            self.recorder.free_completed(&freed);
        }
        self.stats.set_pending(self.queue.n_pending());
        self.note(request, &placement, caller);
        Ok(Some(placement))
    }

    /// Runs the deallocations behind work that has completed up to `ticket`.
    pub(super) fn run_to(&mut self, stream: StreamId, ticket: Ticket) -> Result<(), AllocError> {
        let mut ready = Vec::new();
        self.queue.complete(stream, ticket, |id| ready.push(id))?;
        self.run(&ready);
        Ok(())
    }

    /// Runs all deallocations of one stream whose other streams are done with them.
    pub(super) fn run_stream(&mut self, stream: StreamId) {
        let mut ready = Vec::new();
        // A device never hands out a stream that its queue does not know.
        if self.queue.complete_stream(stream, |id| ready.push(id)).is_ok() {
            self.watch.host_waited_for(stream, &self.queue);
            self.run(&ready);
        }
    }

    /// Runs every queued deallocation.
    pub(super) fn run_all(&mut self) {
        let mut ready = Vec::new();
        self.queue.complete_all(|id| ready.push(id));
        (0..self.queue.n_streams()).for_each(|n| self.watch.host_waited_for(StreamId(n), &self.queue));
        self.run(&ready);
    }

    fn run(&mut self, ready: &[BlockId]) {
        for id in ready {
            if self.watch.is_on() {
                self.watch.hold(*id);
            } else {
                self.finish(*id);
            }
        }
        self.stats.set_pending(self.queue.n_pending());
    }

    /// Returns the memory of a block whose deallocation has run to its pool.
    pub(super) fn finish(&mut self, id: BlockId) {
        let was = if self.recorder.is_on() { self.pool.block(id) } else { None };
        match self.pool.free_pending(id) {
            Ok(freed) => {
                self.stats.block_freed(&event(&freed));
                if let Some(was) = was {
                    let stream = Owner::from_tag(was.tag).stream;
                    self.recorder.free_completed(&BlockEvent::of_freed(was.address, &freed, stream));
                }
            }
            Err(error) => tracing::error!(%error, "queued deallocation named no pending block"),
        }
    }
}

#[inline]
fn event(freed: &Freed) -> FreeEvent {
    FreeEvent {
        pool: stats_pool(freed.kind),
        block_bytes: freed.block_bytes,
        requested_bytes: freed.requested_bytes,
        split_blocks: freed.split.blocks,
        split_bytes: freed.split.bytes,
    }
}
