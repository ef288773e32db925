//! The numbers of an out-of-memory error, for callers that make an error of their own of it.

use neuronx_mem::OutOfMemory;

use crate::errors::{Failure, guard, last_out_of_memory};
use crate::nxm_status;
use crate::pointers::{Growing, put_sized};

/// Why a request found no memory, as things stood after the last try. Set struct_size to the size of the
/// struct before the call; it holds the bytes that were written after it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct nxm_out_of_memory {
    /// Size of this struct, bytes.
    pub struct_size: usize,
    /// Ordinal of the device.
    pub device: u64,
    /// Bytes asked for.
    pub requested_bytes: u64,
    /// Bytes of the segment that the runtime was asked for.
    pub segment_bytes: u64,
    /// Device memory; the cap, where one is set below it.
    pub total_bytes: u64,
    /// Held from the runtime.
    pub reserved_bytes: u64,
    /// Blocks of live tensors.
    pub allocated_bytes: u64,
    /// What live tensors asked for.
    pub active_bytes: u64,
    /// Free inside held segments.
    pub cached_free_bytes: u64,
    /// Largest free block of the request's pool.
    pub largest_free_bytes: u64,
    /// In use by others than this allocator.
    pub used_by_others_bytes: u64,
}

// SAFETY: repr(C), the size first, nothing but 64-bit numbers after it: no padding where a size has 64
// bits, which is checked below.
unsafe impl Growing for nxm_out_of_memory {
    fn with_struct_size(self, struct_size: usize) -> Self {
        Self { struct_size, ..self }
    }
}

const _: () = assert!(size_of::<nxm_out_of_memory>() == 8 * 11, "no padding");

impl nxm_out_of_memory {
    pub(crate) fn of(error: &OutOfMemory) -> Self {
        Self {
            struct_size: 0,
            device: u64::from(error.device.0),
            requested_bytes: error.requested_bytes,
            segment_bytes: error.segment_bytes,
            total_bytes: error.effective_total_bytes(),
            reserved_bytes: error.reserved_bytes,
            allocated_bytes: error.allocated_bytes,
            active_bytes: error.active_bytes,
            cached_free_bytes: error.cached_free_bytes,
            largest_free_bytes: error.largest_free_bytes,
            used_by_others_bytes: error.used_by_others_bytes,
        }
    }
}

/// The numbers of the last failure on this thread. NXM_INVALID_ARGUMENT, which becomes the last failure,
/// if that was not NXM_OUT_OF_MEMORY.
///
/// # Safety
///
/// `out` is null or a struct whose struct_size is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_last_out_of_memory(out: *mut nxm_out_of_memory) -> nxm_status {
    let read = || last_out_of_memory().ok_or_else(|| Failure::invalid("memory has not run out"));
    // SAFETY: by the contract.
    guard(|| unsafe { put_sized(out, read) })
}
