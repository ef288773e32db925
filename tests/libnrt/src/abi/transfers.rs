//! Bytes between host and device, and on a device.

use std::ffi::{c_int, c_void};
use std::slice;

use neuronx_mem_runtime::Status;

use super::{NrtTensor, code};
use crate::control::arrive;
use crate::state::STATE;

/// `nrt_tensor_read`.
///
/// # Safety
///
/// `buffer` points to `size` bytes to be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_tensor_read(
    tensor: *const NrtTensor,
    buffer: *mut c_void,
    offset: usize,
    size: usize,
) -> c_int {
    arrive(c"nrt_tensor_read");
    let mut state = STATE.lock();
    code(state.range(tensor.addr(), offset, size).and_then(|(storage, at)| {
        if buffer.is_null() {
            return Err(Status::INVALID);
        }
        // SAFETY: by the contract, and not null.
        storage.pages.read(at, unsafe { slice::from_raw_parts_mut(buffer.cast::<u8>(), size) });
        Ok(())
    }))
}

/// `nrt_tensor_write`.
///
/// # Safety
///
/// `buffer` points to `size` bytes to be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_tensor_write(
    tensor: *mut NrtTensor,
    buffer: *const c_void,
    offset: usize,
    size: usize,
) -> c_int {
    arrive(c"nrt_tensor_write");
    let mut state = STATE.lock();
    code(state.range(tensor.addr(), offset, size).and_then(|(storage, at)| {
        if buffer.is_null() {
            return Err(Status::INVALID);
        }
        // SAFETY: by the contract, and not null.
        storage.pages.write(at, unsafe { slice::from_raw_parts(buffer.cast::<u8>(), size) });
        Ok(())
    }))
}

/// `nrt_tensor_copy`: on one HBM stack alone.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_tensor_copy(
    source: *const NrtTensor,
    source_offset: usize,
    destination: *mut NrtTensor,
    destination_offset: usize,
    size: usize,
) -> c_int {
    arrive(c"nrt_tensor_copy");
    let mut state = STATE.lock();
    let mut copy = || {
        let (from, at) = state.range(source.addr(), source_offset, size)?;
        let mut bytes = vec![0; size];
        from.pages.read(at, &mut bytes);
        let from = from.device;
        let to = state.range(destination.addr(), destination_offset, size)?.0.device;
        if state.hbm(from)? != state.hbm(to)? {
            return Err(Status::INVALID);
        }
        let (to, at) = state.range(destination.addr(), destination_offset, size)?;
        to.pages.write(at, &bytes);
        Ok(())
    };
    code(copy())
}

/// `nrt_tensor_memset`: the lowest byte of the value.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_tensor_memset(tensor: *mut NrtTensor, offset: u64, value: c_int, size: usize) -> c_int {
    arrive(c"nrt_tensor_memset");
    let [value, ..] = value.to_le_bytes();
    let mut state = STATE.lock();
    code(usize::try_from(offset).map_err(|_| Status::INVALID).and_then(|offset| {
        let (storage, at) = state.range(tensor.addr(), offset, size)?;
        storage.pages.write(at, &vec![value; size]);
        Ok(())
    }))
}
