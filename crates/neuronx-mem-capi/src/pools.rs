//! Statistics of the two pools, and where a device's memory lies.

use neuronx_mem::MemoryStats;
use neuronx_mem::stats::{Family, Scope, Values};

use crate::allocator::nxm_device;
use crate::errors::{Failure, guard};
use crate::pointers::{Growing, borrow, put, put_sized};
use crate::{nxm_stat, nxm_status};

/// Statistics of a device at one moment, each for both pools, the small and the large one. Set struct_size
/// to the size of the struct before the call; it holds the bytes that were written after it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct nxm_pool_stats {
    /// Size of this struct, bytes.
    pub struct_size: usize,
    /// Live blocks.
    pub allocations: [nxm_stat; 3],
    /// Segments held.
    pub segments: [nxm_stat; 3],
    /// Free blocks that are split off a segment.
    pub inactive_split: [nxm_stat; 3],
    /// Bytes of the blocks of live tensors.
    pub allocated_bytes: [nxm_stat; 3],
    /// Bytes of the segments held from the runtime.
    pub reserved_bytes: [nxm_stat; 3],
    /// Bytes that live tensors asked for.
    pub active_bytes: [nxm_stat; 3],
    /// Bytes of the free blocks that are split off a segment.
    pub inactive_split_bytes: [nxm_stat; 3],
    /// Live blocks above kMaxSplitSizeBytes.
    pub oversize_allocations: nxm_stat,
    /// Segments above kMaxSplitSizeBytes.
    pub oversize_segments: nxm_stat,
}

// SAFETY: repr(C), the size first, nothing but 64-bit numbers after it: no padding where a size has 64
// bits, which is checked below.
unsafe impl Growing for nxm_pool_stats {
    fn with_struct_size(self, struct_size: usize) -> Self {
        Self { struct_size, ..self }
    }
}

const _: () = assert!(size_of::<nxm_pool_stats>() == 8 * (1 + 4 * (7 * 3 + 2)), "no padding");

impl nxm_pool_stats {
    fn of(stats: &MemoryStats) -> Self {
        let values = |family| Scope::ALL.map(|scope| stat(stats.values(family, scope)));
        Self {
            struct_size: 0,
            allocations: values(Family::Allocation),
            segments: values(Family::Segment),
            inactive_split: values(Family::InactiveSplit),
            allocated_bytes: values(Family::AllocatedBytes),
            reserved_bytes: values(Family::ReservedBytes),
            active_bytes: values(Family::ActiveBytes),
            inactive_split_bytes: values(Family::InactiveSplitBytes),
            oversize_allocations: stat(stats.oversize_allocations()),
            oversize_segments: stat(stats.oversize_segments()),
        }
    }
}

fn stat(values: Values) -> nxm_stat {
    let Values { current, peak, allocated, freed } = values;
    nxm_stat { current, peak, allocated, freed }
}

/// Addresses, from the first to before the end.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct nxm_address_range {
    /// The first address.
    pub first: u64,
    /// The address after the last.
    pub end: u64,
}

/// Reads the statistics of a device's pools as they were at one moment.
///
/// # Safety
///
/// `device` is null or valid, `out` null or a struct whose struct_size is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_get_pool_stats(
    device: *const nxm_device,
    out: *mut nxm_pool_stats,
) -> nxm_status {
    let read = || {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        Ok(nxm_pool_stats::of(&device.device.memory_stats()))
    };
    // SAFETY: by the contract.
    guard(|| unsafe { put_sized(out, read) })
}

/// The addresses that a device's segments can have. NXM_UNSUPPORTED where the runtime does not tell.
///
/// # Safety
///
/// `device` is null or valid, `out` null or a place for a range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_get_address_range(
    device: *const nxm_device,
    out: *mut nxm_address_range,
) -> nxm_status {
    let read = || {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        let unknown = || Failure::new(nxm_status::NXM_UNSUPPORTED, "the runtime does not tell its addresses");
        let range = device.device.address_range().ok_or_else(unknown)?;
        Ok(nxm_address_range { first: range.start, end: range.end })
    };
    // SAFETY: by the contract.
    guard(|| unsafe { put(out, read) })
}
