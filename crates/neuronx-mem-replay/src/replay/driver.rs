//! One event at a time into the device. Knows the live tensors; counts, times and reports
//! nothing.

use neuronx_mem::{AllocError, Device, Handle, OutOfMemory};

use super::streams::Streams;
use crate::{Event, Fault, LiveIds};

/// Why an event had no effect.
pub(super) enum Refusal {
    /// It does not fit the events before it.
    Fault(Fault),
    /// The device has no memory for it.
    OutOfMemory(Box<OutOfMemory>),
    /// The allocator failed otherwise.
    Allocator(AllocError),
}

pub(super) struct Driver {
    device: Device,
    streams: Streams,
    /// `None` for a tensor of no bytes.
    live: LiveIds<Option<Handle>>,
}

impl Driver {
    pub(super) fn new(device: &Device, in_flight: u64) -> Self {
        Self { device: device.clone(), streams: Streams::new(device, in_flight), live: LiveIds::new() }
    }

    /// Does what an event says; returns the block that it allocated, freed or recorded.
    #[inline]
    pub(super) fn apply(&mut self, event: &Event) -> Result<Option<Handle>, Refusal> {
        match *event {
            Event::Allocate { id, bytes, stream } => self.allocate(id, bytes, stream),
            Event::Free { id } => self.free(id),
            Event::RecordStream { id, stream } => self.record(id, stream),
            Event::Synchronize => {
                self.device.synchronize();
                Ok(None)
            }
            Event::Mark(_) => Ok(None),
        }
    }

    #[inline]
    fn allocate(&mut self, id: u64, bytes: u64, stream: u64) -> Result<Option<Handle>, Refusal> {
        if self.live.contains(id) {
            return Err(Refusal::Fault(Fault::AllocatedTwice { id }));
        }
        let on = self.streams.id(stream)?;
        let handle = self.device.allocate_handle(bytes, on)?;
        self.live.allocate(id, handle)?;
        self.streams.submit(stream)?;
        Ok(handle)
    }

    #[inline]
    fn free(&mut self, id: u64) -> Result<Option<Handle>, Refusal> {
        let handle = self.live.free(id)?;
        if let Some(handle) = handle {
            self.device.free_handle(handle)?;
        }
        Ok(handle)
    }

    fn record(&mut self, id: u64, stream: u64) -> Result<Option<Handle>, Refusal> {
        let handle = *self.live.recorded(id)?;
        let on = self.streams.id(stream)?;
        if let Some(handle) = handle {
            self.device.record_stream_handle(handle, on)?;
        }
        Ok(handle)
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<AllocError> for Refusal {
    fn from(error: AllocError) -> Self {
        match error {
            AllocError::OutOfMemory(error) => Self::OutOfMemory(error),
            other => Self::Allocator(other),
        }
    }
}
