//! Tensors and transfers of a device whose runtime is libnrt. Others are NXM_UNSUPPORTED.

use std::ffi::c_void;
use std::slice;

use neuronx_mem::DeviceId;
use neuronx_mem_nrt::Tensor;

use crate::allocator::nxm_device;
use crate::errors::{Failure, guard};
use crate::nxm_status;
use crate::pointers::{borrow, put};

/// A block's tensor, held.
#[derive(Debug)]
pub struct nxm_tensor {
    tensor: Tensor,
}

/// Holds the tensor of `bytes` at `address`: the first time a slice is made, after that the same slice
/// serves. To be released by nxm_tensor_release() when the work that uses it has completed.
///
/// # Safety
///
/// `device` is null or valid, `out` null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_tensor_acquire(
    device: *const nxm_device,
    address: u64,
    bytes: u64,
    out: *mut *mut nxm_tensor,
) -> nxm_status {
    let acquire = || {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        let tensor = device.nrt()?.tensor(device.device.id(), address, bytes)?;
        Ok(Box::into_raw(Box::new(nxm_tensor { tensor })))
    };
    // SAFETY: by the contract.
    guard(|| unsafe { put(out, acquire) })
}

/// The nrt_tensor_t for calls of libnrt; null for null. Valid while the tensor is held.
///
/// # Safety
///
/// `tensor` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_tensor_nrt(tensor: *const nxm_tensor) -> *mut c_void {
    // SAFETY: by the contract.
    unsafe { tensor.as_ref() }.map_or(std::ptr::null_mut(), |tensor| tensor.tensor.as_ptr().cast())
}

/// Lets go of a tensor; nothing for null.
///
/// # Safety
///
/// `tensor` is null or held, and is not used after.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_tensor_release(tensor: *mut nxm_tensor) {
    guard(|| {
        if !tensor.is_null() {
            // SAFETY: by the contract, made by `Box::into_raw`.
            drop(unsafe { Box::from_raw(tensor) });
        }
        Ok(())
    });
}

/// The length of a host buffer, which Rust's slices limit.
fn length(pointer: *const c_void, bytes: u64) -> Result<usize, Failure> {
    let most = isize::MAX.unsigned_abs();
    let length = usize::try_from(bytes).ok().filter(|length| *length <= most);
    match length {
        Some(length) if length == 0 || !pointer.is_null() => Ok(length),
        Some(_) => Err(Failure::invalid("the host buffer is null")),
        None => Err(Failure::invalid(format!("{bytes} bytes are no host buffer"))),
    }
}

/// Copies device memory to the host and waits for it. All of it must lie inside one segment. What `into`
/// holds after a failure is not said.
///
/// # Safety
///
/// `device` is null or valid, `into` null or a place for `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_read(
    device: *const nxm_device,
    address: u64,
    into: *mut c_void,
    bytes: u64,
) -> nxm_status {
    guard(|| {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        let length = length(into, bytes)?;
        if length == 0 {
            return Ok(());
        }
        // A byte of no value is no value of Rust, so the place is cleared before anybody looks at it.
        // SAFETY: by the contract, and not null.
        unsafe { into.cast::<u8>().write_bytes(0, length) };
        // SAFETY: as above; the place is nobody else's during the call.
        let into = unsafe { slice::from_raw_parts_mut(into.cast::<u8>(), length) };
        Ok(device.nrt()?.read(device.device.id(), address, into)?)
    })
}

/// Copies host memory to the device and waits for it. All of it must lie inside one segment.
///
/// # Safety
///
/// `device` is null or valid, `from` null or `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_write(
    device: *const nxm_device,
    address: u64,
    from: *const c_void,
    bytes: u64,
) -> nxm_status {
    guard(|| {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        let length = length(from, bytes)?;
        if length == 0 {
            return Ok(());
        }
        // SAFETY: by the contract, and not null.
        let from = unsafe { slice::from_raw_parts(from.cast::<u8>(), length) };
        Ok(device.nrt()?.write(device.device.id(), address, from)?)
    })
}

/// Sets device memory to a byte and waits for it.
///
/// # Safety
///
/// `device` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_fill(
    device: *const nxm_device,
    address: u64,
    value: u8,
    bytes: u64,
) -> nxm_status {
    guard(|| {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        Ok(device.nrt()?.fill(device.device.id(), address, value, bytes)?)
    })
}

/// Copies device memory to a place of a device on the same HBM stack, and waits for it. The ranges must
/// not overlap.
///
/// # Safety
///
/// `device` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_copy(
    device: *const nxm_device,
    from: u64,
    to_device: u32,
    to: u64,
    bytes: u64,
) -> nxm_status {
    guard(|| {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        Ok(device.nrt()?.copy((device.device.id(), from), (DeviceId(to_device), to), bytes)?)
    })
}
