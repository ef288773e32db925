//! What a device has and may use: the runtime's figures, caps, waiting, giving memory back.

use crate::allocator::{nxm_allocator, nxm_device};
use crate::errors::guard;
use crate::nxm_status;
use crate::pointers::{borrow, put};

/// Device memory as the runtime sees it, all users included.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct nxm_memory_info {
    /// Bytes in use by everybody.
    pub used_bytes: u64,
    /// Bytes of the device; at LNC 1 on trn2 and trn3 the whole HBM stack.
    pub total_bytes: u64,
}

/// What was given back to the runtime.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct nxm_released {
    /// Segments.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Reads what the runtime says of a device's memory.
///
/// # Safety
///
/// `device` is null or valid, `out` null or a place for the struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_get_memory_info(
    device: *const nxm_device,
    out: *mut nxm_memory_info,
) -> nxm_status {
    let read = || {
        // SAFETY: by the contract.
        let info = unsafe { borrow(device, "device") }?.device.memory_info()?;
        Ok(nxm_memory_info { used_bytes: info.used_bytes, total_bytes: info.limit_bytes })
    };
    // SAFETY: by the contract.
    guard(|| unsafe { put(out, read) })
}

/// Waits for all work of a device, after which every queued free has run. Without a worker, says that
/// the caller has waited. Read statistics after it.
///
/// # Safety
///
/// `device` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_synchronize(device: *const nxm_device) -> nxm_status {
    // SAFETY: by the contract.
    guard(|| Ok(unsafe { borrow(device, "device") }?.device.try_synchronize()?))
}

/// Waits for all devices, then gives every fully free segment back to the runtime. `out` may be null.
///
/// # Safety
///
/// `allocator` is null or valid, `out` null or a place for the struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_empty_cache(
    allocator: *const nxm_allocator,
    out: *mut nxm_released,
) -> nxm_status {
    guard(|| {
        // SAFETY: by the contract.
        let released = unsafe { borrow(allocator, "allocator") }?.allocator.empty_cache()?;
        if out.is_null() {
            return Ok(());
        }
        let released = nxm_released { segments: released.segments, bytes: released.bytes };
        // SAFETY: by the contract.
        unsafe { put(out, || Ok(released)) }
    })
}

/// Caps the bytes reserved from the runtime at a part of the device's memory, 0 to 1.
///
/// # Safety
///
/// `device` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_set_memory_fraction(device: *const nxm_device, fraction: f64) -> nxm_status {
    // SAFETY: by the contract.
    guard(|| Ok(unsafe { borrow(device, "device") }?.device.set_memory_fraction(fraction)?))
}

/// Caps the bytes reserved from the runtime; UINT64_MAX takes the cap away.
///
/// # Safety
///
/// `device` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_set_memory_cap(device: *const nxm_device, bytes: u64) -> nxm_status {
    guard(|| {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        device.device.set_memory_cap_bytes((bytes != u64::MAX).then_some(bytes));
        Ok(())
    })
}

/// Sets every peak of a device to its current value.
///
/// # Safety
///
/// `device` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_reset_peak_memory_stats(device: *const nxm_device) -> nxm_status {
    // SAFETY: by the contract.
    guard(|| unsafe { borrow(device, "device") }.map(|device| device.device.reset_peak_memory_stats()))
}

/// Zeroes a device's counters and accumulated values.
///
/// # Safety
///
/// `device` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_reset_accumulated_memory_stats(device: *const nxm_device) -> nxm_status {
    // SAFETY: by the contract.
    guard(|| unsafe { borrow(device, "device") }.map(|device| device.device.reset_accumulated_memory_stats()))
}
