//! What is in use, where a tensor lies, which instance this is.

use std::ffi::{c_int, c_void};

use neuronx_mem_runtime::{DeviceId, Status};

use super::{NrtTensor, code};
use crate::control::arrive;
use crate::state::STATE;

/// `nrt_vnc_memory_stats_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NrtMemoryStats {
    bytes_used: usize,
    bytes_limit: usize,
}

/// `nrt_tensor_device_allocation_info_t`.
#[repr(C)]
pub struct NrtAllocationInfo {
    physical_address: u64,
    size: usize,
    hbm_index: c_int,
}

/// `nrt_instance_info_t`.
#[repr(C)]
pub struct NrtInstanceInfo {
    family: u32,
    size: u32,
    arch_name: [u8; 16],
    device_revision: [u8; 8],
}

/// `nrt_get_vnc_memory_stats`.
///
/// # Safety
///
/// `stats` points to `size_in` bytes, `size_out` to a size, both to be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_get_vnc_memory_stats(
    vnc: u32,
    stats: *mut NrtMemoryStats,
    size_in: usize,
    size_out: *mut usize,
) -> c_int {
    arrive(c"nrt_get_vnc_memory_stats");
    let (memory, settings) = {
        let state = STATE.lock();
        (state.memory(DeviceId(vnc)), state.settings())
    };
    let (used, limit) = match memory {
        Ok(memory) => memory,
        Err(status) => return code(Err(status)),
    };
    if stats.is_null() || size_out.is_null() || size_in < size_of::<NrtMemoryStats>() {
        return code(Err(Status::INVALID));
    }
    let said = settings.ok().and_then(|settings| settings.stats_bytes);
    let narrow = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    // SAFETY: by the contract, and large enough.
    unsafe { stats.write(NrtMemoryStats { bytes_used: narrow(used), bytes_limit: narrow(limit) }) };
    // SAFETY: by the contract, and not null.
    unsafe { size_out.write(said.unwrap_or(size_of::<NrtMemoryStats>())) };
    0
}

/// `nrt_tensor_get_device_allocation_info`.
///
/// # Safety
///
/// `info` points to a struct to be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_tensor_get_device_allocation_info(
    tensor: *const NrtTensor,
    info: *mut NrtAllocationInfo,
) -> c_int {
    arrive(c"nrt_tensor_get_device_allocation_info");
    let place = STATE.lock().place(tensor.addr());
    match place {
        Ok(_) if info.is_null() => code(Err(Status::INVALID)),
        Ok((physical_address, size, hbm_index)) => {
            // SAFETY: by the contract, and not null.
            unsafe { info.write(NrtAllocationInfo { physical_address, size, hbm_index }) };
            0
        }
        Err(status) => code(Err(status)),
    }
}

/// `nrt_get_instance_info`: may be called before `nrt_init`.
///
/// # Safety
///
/// `info` points to `size` bytes to be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_get_instance_info(info: *mut NrtInstanceInfo, size: usize) -> c_int {
    arrive(c"nrt_get_instance_info");
    let family = STATE.lock().family_number();
    match family {
        Ok(_) if info.is_null() || size < size_of::<NrtInstanceInfo>() => code(Err(Status::INVALID)),
        Ok(family) => {
            // SAFETY: by the contract, and large enough.
            unsafe {
                info.write(NrtInstanceInfo { family, size: 9, arch_name: [0; 16], device_revision: [0; 8] });
            }
            0
        }
        Err(status) => code(Err(status)),
    }
}

/// `nrt_tensor_get_size`; 0 for a handle that is none.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_tensor_get_size(tensor: *const NrtTensor) -> usize {
    arrive(c"nrt_tensor_get_size");
    STATE.lock().tensor(tensor.addr()).map_or(0, |tensor| tensor.bytes)
}

/// `nrt_tensor_get_va`; null for a handle that is none. There is no memory behind the address.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_tensor_get_va(tensor: *const NrtTensor) -> *mut c_void {
    arrive(c"nrt_tensor_get_va");
    let address = STATE.lock().address(tensor.addr());
    std::ptr::without_provenance_mut(usize::try_from(address).unwrap_or(0))
}

/// `nrt_debug_log_oom_report`: only counted.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_debug_log_oom_report() {
    arrive(c"nrt_debug_log_oom_report");
}
