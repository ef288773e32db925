//! The trait that allocators know, over the methods of this crate. Narrows an error to its status,
//! and logs and keeps what that leaves out.

use std::cell::RefCell;
use std::ops::Range;

use neuronx_mem_runtime::{
    DeviceId, DeviceRuntime, MemoryInfo, Operation, RuntimeError, SegmentAllocation, SegmentHandle,
    SliceHandle,
};

use super::NrtRuntime;
use crate::NrtError;

thread_local! {
    static LAST_REFUSAL: RefCell<Option<NrtError>> = const { RefCell::new(None) };
}

impl NrtRuntime {
    /// Takes the last error of this thread that the trait's error could not tell: a call that was not
    /// made, or an answer that cannot be true. For programs that show errors to people.
    #[must_use]
    pub fn take_last_refusal() -> Option<NrtError> {
        LAST_REFUSAL.try_with(RefCell::take).ok().flatten()
    }
}

impl DeviceRuntime for NrtRuntime {
    fn n_devices(&self) -> u32 {
        self.count()
    }

    fn allocate_segment(&self, device: DeviceId, bytes: u64) -> Result<SegmentAllocation, RuntimeError> {
        self.allocate(device, bytes)
            .map_err(|error| narrow(Operation::AllocateSegment, device, bytes, &error))
    }

    fn free_segment(&self, device: DeviceId, segment: SegmentHandle) -> Result<(), RuntimeError> {
        self.free(device, segment).map_err(|error| narrow(Operation::FreeSegment, device, 0, &error))
    }

    fn slice(
        &self,
        device: DeviceId,
        segment: SegmentHandle,
        offset_bytes: u64,
        bytes: u64,
    ) -> Result<SliceHandle, RuntimeError> {
        let made = self.make_slice(device, segment, offset_bytes, bytes);
        made.map_err(|error| narrow(Operation::Slice, device, bytes, &error))
    }

    fn free_slice(&self, device: DeviceId, slice: SliceHandle) -> Result<(), RuntimeError> {
        self.release_slice(device, slice).map_err(|error| narrow(Operation::FreeSlice, device, 0, &error))
    }

    fn memory_info(&self, device: DeviceId) -> Result<MemoryInfo, RuntimeError> {
        self.memory(device).map_err(|error| narrow(Operation::MemoryInfo, device, 0, &error))
    }

    /// libnrt does not tell which addresses a device has.
    fn address_range(&self, _device: DeviceId) -> Option<Range<u64>> {
        None
    }
}

fn narrow(operation: Operation, device: DeviceId, bytes: u64, error: &NrtError) -> RuntimeError {
    // The status of a failed call says it all; of a refusal or of garbage it says too little.
    if !matches!(error, NrtError::Call { .. } | NrtError::Closed | NrtError::Unsupported { .. }) {
        tracing::error!(%error, "libnrt was not called, or cannot be believed");
        // A thread that is ending may have no place for it any more.
        let _ = LAST_REFUSAL.try_with(|last| *last.borrow_mut() = Some(error.clone()));
    }
    RuntimeError::new(operation, device, error.status(), bytes)
}
