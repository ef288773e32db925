//! The devices of one process under one roof. All the work is done by [`Device`].

use std::sync::Arc;

use neuronx_mem_snapshot::Snapshot;

use crate::{AllocError, AllocatorBuilder, AllocatorConfig, Block, Device, DeviceId, Released, Stream};

/// A caching allocator over one runtime: one device or many, shared by all threads.
///
/// Cheap to clone; the devices live as long as any clone, stream or block of theirs.
#[derive(Clone, Debug)]
pub struct Allocator {
    devices: Arc<[Device]>,
    config: AllocatorConfig,
}

impl Allocator {
    /// Starts the settings of an allocator.
    #[must_use]
    pub fn builder() -> AllocatorBuilder {
        AllocatorBuilder::new()
    }

    pub(crate) fn from_parts(devices: Vec<Device>, config: AllocatorConfig) -> Self {
        Self { devices: devices.into(), config }
    }

    /// All devices, in order of their ids.
    #[must_use]
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// One device.
    ///
    /// # Errors
    ///
    /// [`AllocError::UnknownDevice`].
    pub fn device(&self, device: DeviceId) -> Result<&Device, AllocError> {
        let unknown = AllocError::UnknownDevice { device, n_devices: self.devices.len() };
        self.devices.get(device.0 as usize).ok_or(unknown)
    }

    /// The configuration in force; fixed for the allocator's life.
    #[must_use]
    pub fn config(&self) -> &AllocatorConfig {
        &self.config
    }

    /// Allocates `bytes` of the stream's device, in the order of that stream.
    ///
    /// Zero bytes give a block at the null address, without asking the runtime. O(log n) when a
    /// cached block serves; otherwise one runtime call, and out-of-memory recovery if that fails.
    ///
    /// # Errors
    ///
    /// [`AllocError::OutOfMemory`] after recovery failed, [`AllocError::Runtime`] for any other
    /// runtime failure, [`AllocError::SizeOverflow`], [`AllocError::ForeignStream`].
    pub fn allocate(&self, bytes: u64, stream: &Stream) -> Result<Block, AllocError> {
        self.device(stream.device().id())?.allocate(bytes, stream)
    }

    /// Waits for all devices, then gives every fully free segment back to the runtime.
    ///
    /// # Errors
    ///
    /// [`AllocError::Runtime`] of the first segment that the runtime would not take; all others
    /// are given back all the same.
    pub fn empty_cache(&self) -> Result<Released, AllocError> {
        let mut total = Released::default();
        let mut first_error = None;
        for device in self.devices.iter() {
            match device.empty_cache() {
                Ok(released) => total.add(released),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        first_error.map_or(Ok(total), Err)
    }

    /// Segments, blocks and recorded events of all devices at this moment.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::new();
        self.devices.iter().for_each(|device| device.add_to_snapshot(&mut snapshot));
        snapshot
    }

    /// Tells all devices that their work has completed; see [`Device::synchronize`].
    pub fn synchronize(&self) {
        self.devices.iter().for_each(Device::synchronize);
    }
}
