//! Statistics: a struct, every key by name, and the table for people. Reads take no lock.

use std::ffi::{c_char, c_void};

use neuronx_mem::MemoryStats;
use neuronx_mem::stats::{Family, Scope, Values};

use crate::allocator::nxm_device;
use crate::errors::{Failure, guard};
use crate::nxm_status;
use crate::pointers::{Growing, borrow, put_sized, put_text};
use crate::text::to_c;

/// The four values of one figure.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct nxm_stat {
    /// Now.
    pub current: u64,
    /// Most at once since the last reset of peaks.
    pub peak: u64,
    /// Sum of all increases.
    pub allocated: u64,
    /// Sum of all decreases.
    pub freed: u64,
}

/// Statistics of a device at one moment, both pools together. Set struct_size to the size of the struct
/// before the call; it holds the bytes that were written after it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct nxm_memory_stats {
    /// Size of this struct, bytes.
    pub struct_size: usize,
    /// Bytes of the blocks of live tensors.
    pub allocated_bytes: nxm_stat,
    /// Bytes of the segments held from the runtime.
    pub reserved_bytes: nxm_stat,
    /// Bytes that live tensors asked for.
    pub active_bytes: nxm_stat,
    /// Live blocks.
    pub allocations: nxm_stat,
    /// Segments held.
    pub segments: nxm_stat,
    /// Free blocks that are split off a segment.
    pub inactive_split: nxm_stat,
    /// Their bytes.
    pub inactive_split_bytes: nxm_stat,
    /// Allocations asked for, failed and empty ones included.
    pub allocation_requests: u64,
    /// Frees that have run.
    pub tensor_frees: u64,
    /// Retries during recovery.
    pub alloc_retries: u64,
    /// Out-of-memory errors.
    pub ooms: u64,
    /// Segments taken from the runtime.
    pub device_allocations: u64,
    /// Segments given back.
    pub device_frees: u64,
    /// Waits for all streams.
    pub device_synchronizations: u64,
    /// 1 when no free was queued that had not run; otherwise the figures show what has completed.
    pub is_settled: u64,
}

// SAFETY: repr(C), the size first, nothing but 64-bit numbers after it: no padding where a size has 64
// bits, which is checked below.
unsafe impl Growing for nxm_memory_stats {
    fn with_struct_size(self, struct_size: usize) -> Self {
        Self { struct_size, ..self }
    }
}

const _: () = assert!(size_of::<nxm_memory_stats>() == 8 * (1 + 7 * 4 + 8), "no padding");

impl nxm_memory_stats {
    pub(crate) fn of(stats: &MemoryStats) -> Self {
        let values = |family| nxm_stat::of(stats.values(family, Scope::All));
        let counters = stats.counters();
        Self {
            struct_size: 0,
            allocated_bytes: values(Family::AllocatedBytes),
            reserved_bytes: values(Family::ReservedBytes),
            active_bytes: values(Family::ActiveBytes),
            allocations: values(Family::Allocation),
            segments: values(Family::Segment),
            inactive_split: values(Family::InactiveSplit),
            inactive_split_bytes: values(Family::InactiveSplitBytes),
            allocation_requests: counters.allocation_requests,
            tensor_frees: counters.tensor_frees,
            alloc_retries: counters.alloc_retries,
            ooms: counters.ooms,
            device_allocations: counters.device_allocations,
            device_frees: counters.device_frees,
            device_synchronizations: counters.device_synchronizations,
            is_settled: u64::from(stats.is_settled()),
        }
    }
}

impl nxm_stat {
    fn of(values: Values) -> Self {
        let Values { current, peak, allocated, freed } = values;
        Self { current, peak, allocated, freed }
    }
}

/// Takes one key of the statistics, valid for the call, and its value.
pub type nxm_stat_visitor = Option<unsafe extern "C" fn(key: *const c_char, value: i64, data: *mut c_void)>;

/// Reads the statistics of a device as they were at one moment.
///
/// # Safety
///
/// `device` is null or valid, `out` null or a struct whose struct_size is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_get_memory_stats(
    device: *const nxm_device,
    out: *mut nxm_memory_stats,
) -> nxm_status {
    let read = || {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        Ok(nxm_memory_stats::of(&device.device.memory_stats()))
    };
    // SAFETY: by the contract.
    guard(|| unsafe { put_sized(out, read) })
}

/// Calls `visit` for every key of memory_stats(), sorted: "allocated_bytes.all.current" and so on.
///
/// # Safety
///
/// `device` is null or valid; `visit` may be called with `data`, and does not throw.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_for_each_memory_stat(
    device: *const nxm_device,
    visit: nxm_stat_visitor,
    data: *mut c_void,
) -> nxm_status {
    guard(|| {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        let visit = visit.ok_or_else(|| Failure::invalid("visit is null"))?;
        for (key, value) in device.device.memory_stats().to_map() {
            let key = to_c(&key);
            // SAFETY: by the contract; the text lives until the call returns.
            unsafe { visit(key.as_ptr(), value, data) };
        }
        Ok(())
    })
}

/// Bytes of the blocks of live tensors; 0 for null. One atomic load.
///
/// # Safety
///
/// `device` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_memory_allocated(device: *const nxm_device) -> u64 {
    // SAFETY: by the contract.
    unsafe { device.as_ref() }.map_or(0, |device| device.device.memory_allocated())
}

/// Bytes of the segments held from the runtime; 0 for null. One atomic load.
///
/// # Safety
///
/// `device` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_memory_reserved(device: *const nxm_device) -> u64 {
    // SAFETY: by the contract.
    unsafe { device.as_ref() }.map_or(0, |device| device.device.memory_reserved())
}

/// The table of memory_summary(), to be freed by nxm_string_free().
///
/// # Safety
///
/// `device` is null or valid, `out` null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_memory_summary(device: *const nxm_device, out: *mut *mut c_char) -> nxm_status {
    // SAFETY: by the contract.
    let read = || Ok(unsafe { borrow(device, "device") }?.device.memory_summary());
    // SAFETY: by the contract.
    guard(|| unsafe { put_text(out, read) })
}
