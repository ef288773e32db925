//! Memory history and snapshots, in PyTorch's format.

use std::ffi::c_char;

use neuronx_mem::snapshot;
use neuronx_mem::snapshot::history::{EnabledArg, RecordOptions};

use crate::allocator::{nxm_allocator, nxm_device};
use crate::errors::{Failure, guard};
use crate::nxm_status;
use crate::pointers::{borrow, optional_text, put, text};

/// Switches the memory history, with the values of PyTorch's _record_memory_history(): `enabled` is
/// "all", "state" or null (off); `context` "all", "alloc", "state" or null (no stacks); the oldest
/// events go when there are more than `max_entries`.
///
/// # Safety
///
/// `device` is null or valid, the texts null or texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_record_memory_history(
    device: *const nxm_device,
    enabled: *const c_char,
    context: *const c_char,
    max_entries: usize,
    clear_history: bool,
) -> nxm_status {
    guard(|| {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        // SAFETY: by the contract.
        let enabled =
            unsafe { optional_text(enabled, "enabled") }?.map_or(EnabledArg::None, EnabledArg::Name);
        // SAFETY: by the contract.
        let context = unsafe { optional_text(context, "context") }?;
        let options =
            RecordOptions::from_python_like(enabled, context, "all", max_entries, clear_history, &[]);
        device.device.record_memory_history(&options.map_err(|error| Failure::invalid(error.to_string()))?);
        Ok(())
    })
}

/// Attaches a text to all events from now on.
///
/// # Safety
///
/// `device` is null or valid, `metadata` null or a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_set_memory_metadata(
    device: *const nxm_device,
    metadata: *const c_char,
) -> nxm_status {
    guard(|| {
        // SAFETY: by the contract.
        let device = unsafe { borrow(device, "device") }?;
        // SAFETY: by the contract.
        device.device.set_memory_metadata(unsafe { text(metadata, "metadata") }?);
        Ok(())
    })
}

/// Writes a snapshot of all devices: JSON for a name that ends in .json, pickle otherwise. A temporary
/// file is renamed, so that a failure leaves no half file.
///
/// # Safety
///
/// `allocator` is null or valid, `path` null or a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_dump_snapshot(
    allocator: *const nxm_allocator,
    path: *const c_char,
) -> nxm_status {
    guard(|| {
        // SAFETY: by the contract.
        let allocator = unsafe { borrow(allocator, "allocator") }?;
        // SAFETY: by the contract.
        let path = unsafe { text(path, "path") }?;
        allocator.allocator.snapshot().write_file(path).map_err(failed)
    })
}

/// A snapshot of all devices in memory: JSON, or a pickle. To be freed by nxm_bytes_free().
///
/// # Safety
///
/// `allocator` is null or valid, `out` null or a place for a pointer, `len` null or a place for a size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_snapshot(
    allocator: *const nxm_allocator,
    as_json: bool,
    out: *mut *mut u8,
    len: *mut usize,
) -> nxm_status {
    guard(|| {
        // SAFETY: by the contract.
        let allocator = unsafe { borrow(allocator, "allocator") }?;
        if out.is_null() || len.is_null() {
            return Err(Failure::invalid("the place for the result is null"));
        }
        let snapshot = allocator.allocator.snapshot();
        let bytes = if as_json { snapshot.to_json() } else { snapshot.to_pickle() }.map_err(failed)?;
        let bytes = bytes.into_boxed_slice();
        // SAFETY: by the contract.
        unsafe { put(len, || Ok(bytes.len())) }?;
        // SAFETY: by the contract.
        unsafe { put(out, || Ok(Box::into_raw(bytes).cast())) }
    })
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn failed(error: snapshot::Error) -> Failure {
    Failure::new(nxm_status::NXM_IO, error.to_string())
}
