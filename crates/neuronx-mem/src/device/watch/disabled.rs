//! Without the detector: nothing is watched, and all of this is empty.

use neuronx_mem_pool::{BlockId, Placement, ReleasedSegment, Request};
use neuronx_mem_snapshot::StackId;
use neuronx_mem_stream::{FreeQueue, StreamId, Ticket};

use crate::builder::Settings;
#[cfg(feature = "worker")]
use crate::device::State;
use crate::device::allocate::Caller;
use crate::device::capture::Capture;
use crate::device::{Handle, Shared};
use crate::{AllocError, DeviceRuntime};

pub(in crate::device) fn new_capture(_: &Settings) -> Capture {
    Capture::new()
}

/// Watches nothing.
#[derive(Debug)]
pub(in crate::device) struct Watch;

#[expect(clippy::unused_self, reason = "the shape of the one that watches")]
impl Watch {
    pub(in crate::device) fn new(_: u32, _: &Settings, _: &dyn DeviceRuntime) -> Self {
        Self
    }

    #[inline]
    pub(in crate::device) const fn is_on(&self) -> bool {
        false
    }

    #[inline]
    pub(in crate::device) const fn keeps_back(&self) -> bool {
        false
    }

    #[inline]
    pub(in crate::device) fn allocated(&mut self, _: &Request, _: &Placement, _: Caller) {}

    #[inline]
    pub(in crate::device) fn recorded(&mut self, _: BlockId, _: StreamId) {}

    #[inline]
    pub(in crate::device) fn free_requested(
        &mut self,
        _: BlockId,
        _: Option<StackId>,
        _: &FreeQueue<BlockId>,
        _: StreamId,
    ) {
    }

    #[inline]
    pub(in crate::device) fn hold(&mut self, _: BlockId) {}

    #[inline]
    pub(in crate::device) fn taken_over(&mut self, _: BlockId) {}

    #[inline]
    pub(in crate::device) fn host_waited(&mut self, _: StreamId, _: Ticket) {}

    #[inline]
    pub(in crate::device) fn host_waited_for(&mut self, _: StreamId, _: &FreeQueue<BlockId>) {}
}

#[expect(clippy::unused_self, reason = "the shape of the one that watches")]
impl Shared {
    #[inline(always)]
    pub(in crate::device) fn verified(
        &self,
        answer: Result<Option<Handle>, AllocError>,
    ) -> Result<Option<Handle>, AllocError> {
        answer
    }

    #[inline]
    pub(in crate::device) fn after_free(&self, _: BlockId, _: u64, _: Option<StackId>, _: bool) {}

    #[inline]
    pub(in crate::device) fn settle_freed(&self) {}

    #[inline]
    pub(in crate::device) const fn flush_quarantine(&self) -> bool {
        false
    }

    #[inline]
    pub(in crate::device) fn verify_released(&self, _: &[ReleasedSegment]) {}

    #[inline]
    pub(in crate::device) fn verify_all(&self) {}
}

#[cfg(feature = "worker")]
impl State {
    #[expect(clippy::unused_self, reason = "the shape of the one that watches")]
    pub(in crate::device) fn stream_waits(&mut self, _: StreamId, _: StreamId, _: Ticket) {}
}
