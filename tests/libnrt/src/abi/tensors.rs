//! Tensors and slices: made and freed. Handles are numbers; nothing is behind them.

use std::ffi::{c_char, c_int};
use std::ptr;
use std::time::{Duration, Instant};

use neuronx_mem_runtime::{DeviceId, Status};

use super::{NrtTensor, code};
use crate::control::arrive;
use crate::state::STATE;

/// `nrt_tensor_allocate`; placement on the device alone.
///
/// # Safety
///
/// `tensor` points to a pointer to be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_tensor_allocate(
    placement: c_int,
    vnc: c_int,
    size: usize,
    _name: *const c_char,
    tensor: *mut *mut NrtTensor,
) -> c_int {
    arrive(c"nrt_tensor_allocate");
    let (allocated, latency) = {
        let mut state = STATE.lock();
        let latency = state.settings().map_or(Duration::ZERO, |settings| settings.latency);
        let device = u32::try_from(vnc).ok().filter(|_| placement == 0 && !tensor.is_null());
        let allocated = match device {
            Some(device) => state.allocate(DeviceId(device), size),
            None => Err(Status::INVALID),
        };
        (allocated, latency)
    };
    take(latency);
    // SAFETY: by the contract.
    unsafe { hand_out(allocated, tensor) }
}

/// `nrt_tensor_allocate_slice`.
///
/// # Safety
///
/// `slice` points to a pointer to be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_tensor_allocate_slice(
    source: *const NrtTensor,
    offset: usize,
    size: usize,
    _name: *const c_char,
    slice: *mut *mut NrtTensor,
) -> c_int {
    arrive(c"nrt_tensor_allocate_slice");
    if slice.is_null() {
        return code(Err(Status::INVALID));
    }
    let (made, latency) = {
        let mut state = STATE.lock();
        let latency = state.settings().map_or(Duration::ZERO, |settings| settings.slice_latency);
        (state.slice(source.addr(), offset, size), latency)
    };
    take(latency);
    // SAFETY: by the contract, and not null.
    unsafe { hand_out(made, slice) }
}

/// `nrt_tensor_free`: sets the pointer to null.
///
/// # Safety
///
/// `tensor` is null or points to a pointer to be read and written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_tensor_free(tensor: *mut *mut NrtTensor) {
    arrive(c"nrt_tensor_free");
    if tensor.is_null() {
        return;
    }
    // SAFETY: by the contract, and not null.
    let handle = unsafe { tensor.replace(ptr::null_mut()) };
    STATE.lock().free(handle.addr());
}

/// # Safety
///
/// `into` points to a pointer to be written, where there is a handle.
unsafe fn hand_out(handle: Result<usize, Status>, into: *mut *mut NrtTensor) -> c_int {
    match handle {
        Ok(handle) => {
            // SAFETY: by the contract.
            unsafe { into.write(ptr::without_provenance_mut(handle)) };
            0
        }
        Err(status) => code(Err(status)),
    }
}

/// Lets real time pass, as a driver would; no lock is held.
fn take(latency: Duration) {
    let start = Instant::now();
    while start.elapsed() < latency {
        std::hint::spin_loop();
    }
}
