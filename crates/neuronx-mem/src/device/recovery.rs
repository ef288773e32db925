//! What happens when the runtime has no memory left: two steps, each with one retry, then an
//! error with the numbers (allocator semantics §6). Only "resource exhausted" comes here.

use std::cell::Cell;

use neuronx_mem_pool::{BlockState, Placement, PoolKind, Request, SegmentPool};
use neuronx_mem_runtime::MemoryInfo;
use neuronx_mem_stream::StreamId;
use parking_lot::MutexGuard;

use super::Device;
use super::allocate::Caller;
use crate::out_of_memory::PinnedSegment;
use crate::{AllocError, OutOfMemory, RecoveryStep, StepKind};

thread_local! {
    /// A recovery is running on this thread: a release callback that allocates must not start
    /// another one inside it.
    static IS_RECOVERING: Cell<bool> = const { Cell::new(false) };
}

impl Device {
    /// Tries to make room and serves the request, or explains why not. The growth lock is let go
    /// while callbacks run and while work is waited for: both may need it.
    pub(super) fn recover(
        &self,
        request: &Request,
        caller: Caller,
        growth: &mut MutexGuard<'_, ()>,
    ) -> Result<Placement, AllocError> {
        if self.shared.flush_quarantine()
            && let Some(result) = self.serve_again(request, caller)
        {
            return result;
        }
        let mut steps = Vec::new();
        let is_nested = IS_RECOVERING.replace(true);
        let served = if is_nested { None } else { self.climb(request, caller, growth, &mut steps) };
        IS_RECOVERING.set(is_nested);
        served.unwrap_or_else(|| Err(self.out_of_memory(self.describe(request, steps), caller)))
    }

    /// The steps; `None` when all of them were in vain.
    fn climb(
        &self,
        request: &Request,
        caller: Caller,
        growth: &mut MutexGuard<'_, ()>,
        steps: &mut Vec<RecoveryStep>,
    ) -> Option<Result<Placement, AllocError>> {
        if !self.is_idle(caller.stream) {
            // A stream that has failed, or the worker waiting for itself, gains nothing.
            let wait = || self.synchronize_stream(caller.stream).is_ok();
            steps.push(self.step(StepKind::WaitForStream, || MutexGuard::unlocked(growth, wait)).0);
            if let Some(result) = self.retry(request, caller) {
                return Some(result);
            }
        }
        if !self.shared.settings.is_recovery_enabled {
            return None;
        }
        let run = || {
            let has_cleared = self.clear_scalars() > 0;
            self.run_release_callbacks() || has_cleared
        };
        let (callbacks, has_run) = self.step(StepKind::RunCallbacks, || MutexGuard::unlocked(growth, run));
        if has_run {
            steps.push(callbacks);
        }
        let wait = || self.wait_for_work().is_ok();
        steps.push(self.step(StepKind::WaitForOtherStreams, || MutexGuard::unlocked(growth, wait)).0);
        steps.push(self.release_cache());
        self.retry(request, caller)
    }

    /// Serves again; `None` when there is still no memory.
    fn retry(&self, request: &Request, caller: Caller) -> Option<Result<Placement, AllocError>> {
        self.shared.state.lock().stats.retried();
        self.serve_again(request, caller)
    }

    fn serve_again(&self, request: &Request, caller: Caller) -> Option<Result<Placement, AllocError>> {
        match self.serve(request, caller) {
            Err(AllocError::Runtime(error)) if error.status.is_resource_exhausted() => None,
            other => Some(other),
        }
    }

    /// Takes a step and notes by how much allocated memory fell.
    fn step<T>(&self, kind: StepKind, take: impl FnOnce() -> T) -> (RecoveryStep, T) {
        let before = self.memory_allocated();
        let taken = take();
        (RecoveryStep { kind, gained_bytes: before.saturating_sub(self.memory_allocated()) }, taken)
    }

    fn release_cache(&self) -> RecoveryStep {
        // A segment that the runtime will not take is logged, and counts as nothing gained.
        let released = self.release_free_segments().unwrap_or_default();
        RecoveryStep { kind: StepKind::ReleaseSegments, gained_bytes: released.bytes }
    }

    fn describe(&self, request: &Request, steps: Vec<RecoveryStep>) -> OutOfMemory {
        let info = self.shared.runtime.memory_info(self.shared.id).unwrap_or_default();
        let largest_gap_bytes = self.largest_gap_bytes(info);
        let cap_bytes = self.memory_cap_bytes();
        let state = self.shared.state.lock();
        let usage = state.pool.usage();
        let streams = (0..state.queue.n_streams()).map(StreamId);
        let pending = |stream| (stream, state.queue.pending_on(stream).map_or(0, |(_, bytes)| bytes));
        OutOfMemory {
            device: self.shared.id,
            requested_bytes: request.requested_bytes(),
            rounded_bytes: request.rounded_bytes(),
            // Recovery follows a segment that was asked for, so its size was known.
            segment_bytes: self.shared.policy.segment_bytes(request).unwrap_or(u64::MAX),
            total_bytes: info.limit_bytes,
            cap_bytes,
            reserved_bytes: usage.reserved_bytes,
            allocated_bytes: usage.allocated_bytes,
            active_bytes: usage.active_bytes,
            cached_free_bytes: usage.cached_free_bytes,
            largest_free_bytes: state.pool.largest_free_bytes(request.kind()),
            free_segment_bytes: free_segment_bytes(&state.pool),
            largest_gap_bytes,
            used_by_others_bytes: info.used_bytes.saturating_sub(usage.reserved_bytes),
            pending: streams.map(pending).filter(|(_, bytes)| *bytes > 0).collect(),
            config: self.shared.config,
            config_hash: self.shared.config.hash64(),
            is_recovery_enabled: self.shared.settings.is_recovery_enabled,
            steps,
            nearest_miss: state.pool.nearest_miss(request),
            best_segment: best_segment(&state.pool, request),
        }
    }

    /// The largest run of device addresses outside this allocator's segments, but never more than
    /// nobody uses.
    fn largest_gap_bytes(&self, info: MemoryInfo) -> Option<u64> {
        let range = self.shared.runtime.address_range(self.shared.id)?;
        let mut held: Vec<(u64, u64)> =
            self.inspect(|pool| pool.segments().map(|s| (s.address, s.address + s.bytes)).collect());
        held.push((range.end, range.end));
        let mut covered = range.start;
        let mut largest = 0;
        for (start, end) in held {
            largest = largest.max(start.saturating_sub(covered));
            covered = covered.max(end);
        }
        Some(largest.min(info.free_bytes()))
    }
}

fn free_segment_bytes(pool: &SegmentPool) -> u64 {
    let is_free =
        |segment: &neuronx_mem_pool::SegmentView| pool.blocks(segment).all(|b| b.state == BlockState::Free);
    pool.segments().filter(is_free).map(|segment| segment.bytes).sum()
}

/// The segment of the request's pool that is large enough and has the fewest bytes in the way.
fn best_segment(pool: &SegmentPool, request: &Request) -> Option<PinnedSegment> {
    let kind: PoolKind = request.kind();
    let candidates = pool.segments().filter(|s| s.kind == kind && s.bytes >= request.extent_bytes());
    let pinned = candidates.map(|segment| {
        let blocks: Vec<_> = pool.blocks(&segment).filter(|b| b.state != BlockState::Free).collect();
        let pinned_bytes = blocks.iter().map(|block| block.extent_bytes).sum();
        PinnedSegment { address: segment.address, bytes: segment.bytes, pinned_bytes, blocks }
    });
    pinned.filter(|segment| segment.pinned_bytes > 0).min_by_key(|segment| segment.pinned_bytes)
}
