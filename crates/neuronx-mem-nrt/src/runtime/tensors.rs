//! Tensors of blocks: made when they are first asked for, kept with their segment. No lock is held
//! across a call.

use std::sync::Arc;

use neuronx_mem_runtime::{DeviceId, SegmentHandle, SliceHandle};

use super::table::Slice;
use super::{NrtRuntime, call_error};
use crate::tensor::{SegmentTensor, Tensor, View};
use crate::{Garbage, NrtError, Symbol};

impl NrtRuntime {
    /// The tensor of the block at `address`, for calls of libnrt.
    ///
    /// The first time it is a slice of the segment, `nrt_tensor_allocate_slice`; after that the same
    /// slice without a call, for as long as the allocator hands out this memory as the same block. So
    /// an allocation itself makes no runtime call, and a block that is freed and allocated again at
    /// the same place makes none at all. O(log segments + log blocks).
    ///
    /// # Errors
    ///
    /// [`NrtError::OutOfBounds`] for what is not inside one segment, [`NrtError::Call`],
    /// [`NrtError::Garbage`], [`NrtError::Closed`], [`NrtError::Forked`].
    pub fn tensor(&self, device: DeviceId, address: u64, bytes: u64) -> Result<Tensor, NrtError> {
        // Also for one that is kept: of a closed runtime it points to nothing.
        drop(self.process.enter()?);
        let table = self.table(device)?;
        let (start, name, segment) = {
            let table = table.lock();
            if let Some(tensor) = table.tensor(address, bytes) {
                return Ok(tensor);
            }
            let found = table.around(address, bytes);
            let (start, segment) = found.ok_or(NrtError::OutOfBounds { device, address, bytes })?;
            (start, segment.name, Arc::clone(&segment.tensor))
        };
        let tensor = self.make(device, &segment, start, address, bytes)?;
        let (kept, replaced) = {
            let mut table = table.lock();
            match table.tensor(address, bytes) {
                // Another thread was faster.
                Some(first) => (first, vec![tensor]),
                None => {
                    let replaced = table.keep(name, &tensor);
                    (tensor, replaced)
                }
            }
        };
        // Freed here, with the lock let go.
        drop(replaced);
        Ok(kept)
    }

    /// Names `bytes` at `offset_bytes` of a segment. The slice is made when its tensor is asked for
    /// ([`slice_tensor`](Self::slice_tensor)), or at once with
    /// [`eager_slices`](crate::NrtRuntimeBuilder::eager_slices).
    ///
    /// # Errors
    ///
    /// [`NrtError::UnknownSegment`], [`NrtError::OutOfBounds`]; eager, also those of the call.
    pub fn make_slice(
        &self,
        device: DeviceId,
        segment: SegmentHandle,
        offset_bytes: u64,
        bytes: u64,
    ) -> Result<SliceHandle, NrtError> {
        drop(self.process.enter()?);
        let table = self.table(device)?;
        let name = {
            let mut table = table.lock();
            let (start, held) = table.segment(segment).ok_or(NrtError::UnknownSegment { segment })?;
            let out_of_bounds =
                NrtError::OutOfBounds { device, address: start.saturating_add(offset_bytes), bytes };
            let end = offset_bytes.checked_add(bytes).filter(|end| bytes > 0 && *end <= held.bytes);
            end.ok_or(out_of_bounds)?;
            table.add_slice(Slice { segment, address: start + offset_bytes, bytes, tensor: None })
        };
        if self.has_eager_slices
            && let Err(error) = self.slice_tensor(device, name)
        {
            drop(table.lock().remove_slice(name));
            return Err(error);
        }
        Ok(name)
    }

    /// The tensor of a named slice; made the first time.
    ///
    /// # Errors
    ///
    /// [`NrtError::UnknownSlice`], [`NrtError::UnknownSegment`] when its segment was given back before,
    /// and those of the call.
    pub fn slice_tensor(&self, device: DeviceId, slice: SliceHandle) -> Result<Tensor, NrtError> {
        drop(self.process.enter()?);
        let table = self.table(device)?;
        let unknown = NrtError::UnknownSlice { slice };
        let (wanted, start, segment) = {
            let table = table.lock();
            let wanted = table.slice(slice).cloned().ok_or_else(|| unknown.clone())?;
            if let Some(tensor) = wanted.tensor {
                return Ok(tensor);
            }
            let gone = NrtError::UnknownSegment { segment: wanted.segment };
            let (start, segment) = table.segment(wanted.segment).ok_or(gone)?;
            let tensor = Arc::clone(&segment.tensor);
            (wanted, start, tensor)
        };
        let tensor = self.make(device, &segment, start, wanted.address, wanted.bytes)?;
        let mut table = table.lock();
        if let Some(first) = table.slice(slice).and_then(|slice| slice.tensor.clone()) {
            // Another thread was faster; its tensor serves, and ours is freed with the lock let go.
            drop(table);
            return Ok(first);
        }
        let is_held = table.set_slice_tensor(slice, &tensor);
        drop(table);
        is_held.then_some(tensor).ok_or(unknown)
    }

    /// Gives a named slice back; its tensor is freed if it was made and nobody else holds it. Before
    /// or after its segment, in any order.
    ///
    /// # Errors
    ///
    /// [`NrtError::UnknownSlice`], [`NrtError::Closed`], [`NrtError::Forked`].
    pub fn release_slice(&self, device: DeviceId, slice: SliceHandle) -> Result<(), NrtError> {
        drop(self.process.enter()?);
        let removed = self.table(device)?.lock().remove_slice(slice);
        removed.map(drop).ok_or(NrtError::UnknownSlice { slice })
    }

    fn make(
        &self,
        device: DeviceId,
        segment: &SegmentTensor,
        start: u64,
        address: u64,
        bytes: u64,
    ) -> Result<Tensor, NrtError> {
        let failed = |error| call_error(Symbol::TensorAllocateSlice, device, bytes, error);
        // Inside a segment, whose size is a `usize`.
        let narrow = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        let slice = self.process.slice(&segment.owned, narrow(address - start), narrow(bytes));
        let owned = slice.map_err(failed)?;
        if owned.as_ptr() == segment.owned.as_ptr() {
            owned.forget();
            return Err(moved(device, bytes, Garbage::TensorInUse));
        }
        match owned.address().map_err(failed)? {
            at if at == address => {}
            at => return Err(moved(device, bytes, Garbage::Moved { address: at })),
        }
        Ok(Tensor { view: Arc::new(View { owned, device, address, bytes }) })
    }
}

fn moved(device: DeviceId, bytes: u64, garbage: Garbage) -> NrtError {
    NrtError::Garbage { symbol: Symbol::TensorAllocateSlice, device, bytes, garbage }
}
