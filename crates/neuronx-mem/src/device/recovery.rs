//! What happens when the runtime has no memory left: two steps, each with one retry, then an
//! error with the numbers (allocator semantics §6). Only "resource exhausted" comes here.

use neuronx_mem_pool::{Placement, Request};
use neuronx_mem_runtime::MemoryInfo;
use neuronx_mem_stream::StreamId;

use super::Device;
use super::allocate::Caller;
use crate::{AllocError, OutOfMemory, RecoveryStep, StepKind};

impl Device {
    /// Tries to make room and serves the request, or explains why not. The caller holds the
    /// growth lock.
    pub(super) fn recover(&self, request: &Request, caller: Caller) -> Result<Placement, AllocError> {
        let mut steps = Vec::new();
        if !self.is_idle(caller.stream) {
            steps.push(self.wait_for_stream(caller.stream));
            if let Some(result) = self.retry(request, caller) {
                return result;
            }
        }
        if self.shared.settings.is_recovery_enabled {
            steps.extend([self.wait_for_device(), self.release_cache()]);
            if let Some(result) = self.retry(request, caller) {
                return result;
            }
        }
        Err(self.out_of_memory(self.describe(request, steps), caller))
    }

    /// Serves again; `None` when there is still no memory.
    fn retry(&self, request: &Request, caller: Caller) -> Option<Result<Placement, AllocError>> {
        self.shared.state.lock().stats.retried();
        match self.serve(request, caller) {
            Err(AllocError::Runtime(error)) if error.status.is_resource_exhausted() => None,
            other => Some(other),
        }
    }

    fn wait_for_stream(&self, stream: StreamId) -> RecoveryStep {
        let before = self.memory_allocated();
        self.synchronize_stream(stream);
        let gained_bytes = before.saturating_sub(self.memory_allocated());
        RecoveryStep { kind: StepKind::WaitForStream, gained_bytes }
    }

    fn wait_for_device(&self) -> RecoveryStep {
        let before = self.memory_allocated();
        self.shared.state.lock().run_all();
        let gained_bytes = before.saturating_sub(self.memory_allocated());
        RecoveryStep { kind: StepKind::WaitForOtherStreams, gained_bytes }
    }

    fn release_cache(&self) -> RecoveryStep {
        // A segment that the runtime will not take is logged, and counts as nothing gained.
        let released = self.release_free_segments().unwrap_or_default();
        RecoveryStep { kind: StepKind::ReleaseSegments, gained_bytes: released.bytes }
    }

    fn describe(&self, request: &Request, steps: Vec<RecoveryStep>) -> OutOfMemory {
        let info = self.shared.runtime.memory_info(self.shared.id).unwrap_or_default();
        let state = self.shared.state.lock();
        let usage = state.pool.usage();
        let streams = (0..state.queue.n_streams()).map(StreamId);
        let pending = |stream| (stream, state.queue.pending_on(stream).map_or(0, |(_, bytes)| bytes));
        OutOfMemory {
            device: self.shared.id,
            requested_bytes: request.requested_bytes(),
            rounded_bytes: request.rounded_bytes(),
            segment_bytes: request.segment_bytes(),
            total_bytes: info.limit_bytes,
            reserved_bytes: usage.reserved_bytes,
            allocated_bytes: usage.allocated_bytes,
            active_bytes: usage.active_bytes,
            cached_free_bytes: usage.cached_free_bytes,
            largest_free_bytes: state.pool.largest_free_bytes(request.kind()),
            used_by_others_bytes: used_by_others(info, usage.reserved_bytes),
            pending: streams.map(pending).filter(|(_, bytes)| *bytes > 0).collect(),
            config_hash: self.shared.config.hash64(),
            steps,
            nearest_miss: state.pool.nearest_miss(request),
        }
    }
}

fn used_by_others(info: MemoryInfo, reserved_bytes: u64) -> u64 {
    info.used_bytes.saturating_sub(reserved_bytes)
}
