//! Bytes between host and device, and on a device. Bounds and memory are checked before a call; no
//! lock is held across one. Blocks until the bytes are there.

use std::sync::Arc;

use neuronx_mem_runtime::DeviceId;

use super::NrtRuntime;
use crate::tensor::Place;
use crate::{NrtError, Symbol};

impl NrtRuntime {
    /// Copies device memory at `address` into all of `into`: `nrt_tensor_read`. Nothing for no bytes.
    ///
    /// # Errors
    ///
    /// [`NrtError::OutOfBounds`] for what is not inside one segment, [`NrtError::Call`].
    pub fn read(&self, device: DeviceId, address: u64, into: &mut [u8]) -> Result<(), NrtError> {
        let Some(place) = self.place(device, address, into.len() as u64)? else { return Ok(()) };
        let read = place.tensor.owned.read(place.offset, into);
        read.map_err(|error| place.failed(Symbol::TensorRead, error))
    }

    /// Copies all of `from` to device memory at `address`: `nrt_tensor_write`. Nothing for no bytes.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    pub fn write(&self, device: DeviceId, address: u64, from: &[u8]) -> Result<(), NrtError> {
        let Some(place) = self.place(device, address, from.len() as u64)? else { return Ok(()) };
        let write = place.tensor.owned.write(place.offset, from);
        write.map_err(|error| place.failed(Symbol::TensorWrite, error))
    }

    /// Sets `bytes` at `address` to `value`: `nrt_tensor_memset`, or writes where the library lacks
    /// it. Nothing for no bytes.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    pub fn fill(&self, device: DeviceId, address: u64, value: u8, bytes: u64) -> Result<(), NrtError> {
        match self.place(device, address, bytes)? {
            Some(place) => place.fill(value),
            None => Ok(()),
        }
    }

    /// Copies `bytes` between two places that lie on the same HBM stack: `nrt_tensor_copy`. Nothing
    /// for no bytes.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read); [`NrtError::DifferentHbm`], also for two devices of which the
    /// library does not tell where they lie; [`NrtError::OverlappingCopy`];
    /// [`NrtError::Unsupported`].
    pub fn copy(
        &self,
        (from_device, from): (DeviceId, u64),
        (to_device, to): (DeviceId, u64),
        bytes: u64,
    ) -> Result<(), NrtError> {
        let source = self.place(from_device, from, bytes)?;
        let Some((source, destination)) = source.zip(self.place(to_device, to, bytes)?) else {
            return Ok(());
        };
        source.copy_to(&destination)
    }

    /// The segment of a range, and where in it; `None` for no bytes.
    fn place(&self, device: DeviceId, address: u64, bytes: u64) -> Result<Option<Place>, NrtError> {
        let table = self.table(device)?.lock();
        if bytes == 0 {
            return Ok(None);
        }
        let out_of_bounds = NrtError::OutOfBounds { device, address, bytes };
        let (start, segment) = table.around(address, bytes).ok_or(out_of_bounds)?;
        let tensor = Arc::clone(&segment.tensor);
        // Inside a segment, whose size is a `usize`.
        let narrow = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        Ok(Some(Place { tensor, device, address, offset: narrow(address - start), bytes: narrow(bytes) }))
    }
}
