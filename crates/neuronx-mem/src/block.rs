//! A block that frees itself. The rules are the device's; this is the owner's end of them.

use neuronx_mem_runtime::DeviceId;

use crate::{AllocError, Device, Handle, Stream};

/// Device memory for one tensor. Dropping it frees it in stream order: the memory is reused
/// once the work queued before the drop has completed, on its own and on every recorded stream.
#[derive(Debug)]
#[must_use = "dropping a block frees it"]
pub struct Block {
    device: Device,
    /// `None` for a block of no bytes.
    handle: Option<Handle>,
    requested_bytes: u64,
}

impl Block {
    pub(crate) fn new(device: Device, handle: Option<Handle>, requested_bytes: u64) -> Self {
        Self { device, handle, requested_bytes }
    }

    #[cfg(feature = "detector")]
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// First device address, a multiple of 64; 0 for a block of no bytes.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.handle.map_or(0, |handle| handle.address)
    }

    /// Bytes asked for.
    #[must_use]
    pub fn requested_bytes(&self) -> u64 {
        self.requested_bytes
    }

    /// Bytes that count as allocated: at least those asked for.
    #[must_use]
    pub fn block_bytes(&self) -> u64 {
        self.handle.map_or(0, |handle| handle.block_bytes)
    }

    /// The device it lies on.
    #[must_use]
    pub fn device_id(&self) -> DeviceId {
        self.device.id()
    }

    /// Says that `stream` uses the block too: its memory is not reused before that stream's work
    /// up to the free has completed.
    ///
    /// Recording its own stream, the same stream twice, or a block of no bytes does nothing.
    ///
    /// # Errors
    ///
    /// [`AllocError::ForeignStream`] for a stream of another device.
    pub fn record_stream(&self, stream: &Stream) -> Result<(), AllocError> {
        if !self.device.is_same(stream.device()) {
            let (stream_device, block_device) = (stream.device().id(), self.device.id());
            return Err(AllocError::ForeignStream { stream_device, block_device });
        }
        match self.handle {
            Some(handle) => self.device.record_stream_handle(handle, stream.id()),
            None => Ok(()),
        }
    }

    /// Its handle, while the block keeps ownership; `None` for no bytes.
    #[must_use]
    pub fn handle(&self) -> Option<Handle> {
        self.handle
    }

    /// Gives up ownership: the caller frees by [`Device::free_handle`]. `None` for no bytes.
    #[must_use]
    pub fn into_handle(mut self) -> Option<Handle> {
        self.handle.take()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else { return };
        if let Err(error) = self.device.free_handle(handle) {
            // Only a handle that was also freed by hand gets here; a drop cannot return it.
            tracing::error!(%error, address = handle.address, "block could not be freed");
        }
    }
}
