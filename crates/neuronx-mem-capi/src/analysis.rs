//! Fragmentation: figures in a struct, and the report for people.

use std::ffi::c_char;

use crate::allocator::nxm_device;
use crate::errors::guard;
use crate::nxm_status;
use crate::pointers::{Growing, borrow, put_sized, put_text};

/// How fragmented a device's memory is, in bytes unless said. Set struct_size to the size of the struct
/// before the call; it holds the bytes that were written after it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct nxm_analysis {
    /// Size of this struct, bytes.
    pub struct_size: usize,
    /// Device memory, capped.
    pub total_bytes: u64,
    /// Held from the runtime.
    pub reserved_bytes: u64,
    /// Blocks of live tensors.
    pub allocated_bytes: u64,
    /// What live tensors asked for.
    pub active_bytes: u64,
    /// Part of allocated_bytes whose free is queued.
    pub pending_bytes: u64,
    /// Free inside held segments.
    pub cached_free_bytes: u64,
    /// total - allocated.
    pub free_bytes: u64,
    /// The largest free block, or gap outside all segments.
    pub largest_free_bytes: u64,
    /// allocated - active.
    pub internal_fragmentation_bytes: u64,
    /// Free bytes in neither a cached block nor the largest free region.
    pub external_fragmentation_bytes: u64,
    /// What nxm_empty_cache() would give back now.
    pub free_segment_bytes: u64,
    /// Largest request that each pool serves as things are: the small one.
    pub small_pool_servable_bytes: u64,
    /// And the large one.
    pub large_pool_servable_bytes: u64,
    /// (internal + external) / free, 0 to 1.
    pub fragmentation_index: f64,
    /// reserved / span of the segments, 0 to 1.
    pub memory_density: f64,
    /// 1 when the device's address range is unknown: bytes outside the span count as one region.
    pub assumed_contiguous: u64,
}

// SAFETY: repr(C), the size first, nothing but 64-bit numbers after it: no padding where a size has 64
// bits, which is checked below.
unsafe impl Growing for nxm_analysis {
    fn with_struct_size(self, struct_size: usize) -> Self {
        Self { struct_size, ..self }
    }
}

const _: () = assert!(size_of::<nxm_analysis>() == 8 * 17, "no padding");

/// Analyses a device's segments. Takes its lock to copy the blocks.
///
/// # Safety
///
/// `device` is null or valid, `out` null or a struct whose struct_size is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_segment_pool_analysis(
    device: *const nxm_device,
    out: *mut nxm_analysis,
) -> nxm_status {
    let analyse = || {
        // SAFETY: by the contract.
        let analysis = unsafe { borrow(device, "device") }?.device.segment_pool_analysis();
        Ok(nxm_analysis {
            struct_size: 0,
            total_bytes: analysis.total_bytes,
            reserved_bytes: analysis.reserved_bytes,
            allocated_bytes: analysis.allocated_bytes,
            active_bytes: analysis.active_bytes,
            pending_bytes: analysis.pending_bytes,
            cached_free_bytes: analysis.cached_free_bytes,
            free_bytes: analysis.free_bytes,
            largest_free_bytes: analysis.largest_free_bytes,
            internal_fragmentation_bytes: analysis.internal_fragmentation_bytes,
            external_fragmentation_bytes: analysis.external_fragmentation_bytes,
            free_segment_bytes: analysis.free_segment_bytes,
            small_pool_servable_bytes: analysis.small_pool.now.largest_bytes,
            large_pool_servable_bytes: analysis.large_pool.now.largest_bytes,
            fragmentation_index: analysis.fragmentation_index,
            memory_density: analysis.memory_density,
            assumed_contiguous: u64::from(analysis.assumed_contiguous),
        })
    };
    // SAFETY: by the contract.
    guard(|| unsafe { put_sized(out, analyse) })
}

/// The report of segment_pool_analysis_summary(), to be freed by nxm_string_free().
///
/// # Safety
///
/// `device` is null or valid, `out` null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_segment_pool_analysis_summary(
    device: *const nxm_device,
    out: *mut *mut c_char,
) -> nxm_status {
    // SAFETY: by the contract.
    let read = || Ok(unsafe { borrow(device, "device") }?.device.segment_pool_analysis_summary());
    // SAFETY: by the contract.
    guard(|| unsafe { put_text(out, read) })
}
