//! Segments: taken from libnrt, checked before anybody uses them, given back. No lock is held across
//! a call.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use neuronx_mem_runtime::{DeviceId, SegmentAllocation, SegmentHandle};

use super::{NrtRuntime, call_error};
use crate::calls::OwnedTensor;
use crate::tensor::SegmentTensor;
use crate::{DeviceExhausted, Garbage, NrtError, Symbol};

/// Blocks start on multiples of this, so segments must.
const ALIGNMENT_BYTES: u64 = 64;

/// From here on old runtimes overflow.
const FOUR_GIB: u64 = 1 << 32;

impl NrtRuntime {
    /// Takes `bytes` of device memory as one segment: `nrt_tensor_allocate`, and two questions about
    /// what it returned.
    ///
    /// # Errors
    ///
    /// [`NrtError::Call`] with [`NrtStatus::Resource`](crate::NrtStatus::Resource) when there is no
    /// memory left, [`NrtError::OverflowingRuntime`] for 4 GiB and more where libnrt is known to
    /// overflow, [`NrtError::Garbage`] for an answer that cannot be true, whose memory is given back.
    pub fn allocate(&self, device: DeviceId, bytes: u64) -> Result<SegmentAllocation, NrtError> {
        self.table(device)?;
        if bytes >= FOUR_GIB && self.version().overflows_at_four_gib() {
            return Err(NrtError::OverflowingRuntime { bytes, version: self.version() });
        }
        let out_of_bounds = NrtError::OutOfBounds { device, address: 0, bytes };
        let size = usize::try_from(bytes).ok().filter(|size| *size > 0).ok_or(out_of_bounds)?;
        // A device is less than 128.
        let vnc = i32::try_from(device.0).unwrap_or(i32::MAX);
        match self.process.allocate(vnc, size) {
            Ok(tensor) => self.accept(device, bytes, tensor),
            Err(error) => {
                let error = call_error(Symbol::TensorAllocate, device, bytes, error);
                if error.is_out_of_memory() {
                    self.report(device, bytes);
                }
                Err(error)
            }
        }
    }

    /// Gives a segment back: `nrt_tensor_free`, also of the tensors of its blocks that were made.
    /// libnrt keeps the memory while somebody else holds one of those.
    ///
    /// # Errors
    ///
    /// [`NrtError::UnknownSegment`], [`NrtError::Closed`], [`NrtError::Forked`].
    pub fn free(&self, device: DeviceId, segment: SegmentHandle) -> Result<(), NrtError> {
        drop(self.process.enter()?);
        let removed = self.table(device)?.lock().remove(segment);
        // Dropped here, with the lock let go.
        removed.map(drop).ok_or(NrtError::UnknownSegment { segment })
    }

    /// Takes over a new tensor, if what it says of itself can be true.
    fn accept(
        &self,
        device: DeviceId,
        bytes: u64,
        tensor: OwnedTensor,
    ) -> Result<SegmentAllocation, NrtError> {
        let tensor = SegmentTensor::new(tensor);
        if self.table(device)?.lock().holds(&tensor) {
            // Not ours: it stays with the segment that has it.
            tensor.owned.forget();
            return Err(garbage(device, bytes, Garbage::TensorInUse));
        }
        let failed = |error| call_error(Symbol::TensorAllocate, device, bytes, error);
        let address = tensor.owned.address().map_err(failed)?;
        let size = tensor.owned.size().map_err(failed)? as u64;
        let wrong = match address {
            0 => Some(Garbage::NullAddress),
            _ if !address.is_multiple_of(ALIGNMENT_BYTES) => Some(Garbage::Misaligned { address }),
            _ if size < bytes => Some(Garbage::Short { bytes: size }),
            _ => None,
        };
        if let Some(wrong) = wrong {
            return Err(garbage(device, bytes, wrong));
        }
        let tensor = Arc::new(tensor);
        let added = self.table(device)?.lock().add(address, bytes, Arc::clone(&tensor));
        // Where it was refused, the tensor is freed here, with the lock let go.
        let handle = added.ok_or_else(|| garbage(device, bytes, Garbage::Overlap { address }))?;
        Ok(SegmentAllocation { handle, address })
    }

    /// Tells whoever wants to know that there is no memory left.
    fn report(&self, device: DeviceId, bytes: u64) {
        let n_so_far = self.n_exhausted.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(hook) = &self.hooks.own {
            let memory = self.memory(device).ok();
            hook(&DeviceExhausted { device, bytes, memory, n_so_far });
        }
        if self.hooks.calls_runtime_report {
            self.log_runtime_report();
        }
    }

    #[expect(unsafe_code, reason = "a function whose signature only the program knows")]
    fn log_runtime_report(&self) {
        // SAFETY: the flag is set by an unsafe method of the builder alone, whose caller vouches for the
        // signature.
        match unsafe { self.process.log_oom_report() } {
            Ok(true) => {}
            Ok(false) => tracing::debug!("this libnrt writes no report of its memory"),
            Err(error) => tracing::warn!(?error, "libnrt could not write its report"),
        }
    }
}

fn garbage(device: DeviceId, bytes: u64, garbage: Garbage) -> NrtError {
    NrtError::Garbage { symbol: Symbol::TensorAllocate, device, bytes, garbage }
}
