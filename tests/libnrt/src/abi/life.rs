//! Start, end, version and size of the runtime.

use std::ffi::{CStr, c_char, c_int};

use neuronx_mem_runtime::Status;

use super::code;
use crate::control::arrive;
use crate::state::STATE;

/// `nrt_version_t`.
#[repr(C)]
pub struct NrtVersion {
    numbers: [u64; 4],
    rt_detail: [u8; 128],
    git_hash: [u8; 64],
}

/// `nrt_init`. Texts are not looked at.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_init(
    _framework: c_int,
    _fw_version: *const c_char,
    _fal_version: *const c_char,
) -> c_int {
    arrive(c"nrt_init");
    code(STATE.lock().init())
}

/// `nrt_close`.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_close() {
    arrive(c"nrt_close");
    STATE.lock().close();
}

/// `nrt_get_version`: may be called before `nrt_init`.
///
/// # Safety
///
/// `version` points to `size` bytes to be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_get_version(version: *mut NrtVersion, size: usize) -> c_int {
    arrive(c"nrt_get_version");
    let settings = match STATE.lock().settings() {
        Ok(settings) => settings,
        Err(status) => return code(Err(status)),
    };
    if version.is_null() || size < size_of::<NrtVersion>() {
        return code(Err(Status::INVALID));
    }
    let mut rt_detail = [0; 128];
    rt_detail[..8].copy_from_slice(b"stand-in");
    // SAFETY: by the contract, and large enough.
    unsafe { version.write(NrtVersion { numbers: settings.version, rt_detail, git_hash: [0; 64] }) };
    0
}

/// `nrt_get_visible_vnc_count`: may be called before `nrt_init`.
///
/// # Safety
///
/// `count` points to a number to be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_get_visible_vnc_count(count: *mut u32) -> c_int {
    arrive(c"nrt_get_visible_vnc_count");
    // SAFETY: by the contract.
    unsafe { tell_count(count) }
}

// Exported functions do not call each other: tests rename them.

/// # Safety
///
/// As for `nrt_get_visible_vnc_count`.
unsafe fn tell_count(count: *mut u32) -> c_int {
    let counted = STATE.lock().settings().map(|settings| settings.count.unwrap_or(settings.devices));
    match counted {
        Ok(_) if count.is_null() => code(Err(Status::INVALID)),
        Ok(n) => {
            // SAFETY: by the contract, and not null.
            unsafe { count.write(n) };
            0
        }
        Err(status) => code(Err(status)),
    }
}

/// `nrt_get_total_vnc_count`: the visible ones here.
///
/// # Safety
///
/// As for `nrt_get_visible_vnc_count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_get_total_vnc_count(count: *mut u32) -> c_int {
    arrive(c"nrt_get_nc_count");
    // SAFETY: by the contract.
    unsafe { tell_count(count) }
}

/// `nrt_get_visible_nc_count`, the older name.
///
/// # Safety
///
/// As for `nrt_get_visible_vnc_count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_get_visible_nc_count(count: *mut u32) -> c_int {
    arrive(c"nrt_get_nc_count");
    // SAFETY: by the contract.
    unsafe { tell_count(count) }
}

/// `nrt_get_status_as_str`: a text that is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_get_status_as_str(status: c_int) -> *const c_char {
    arrive(c"nrt_get_status_as_str");
    let text: &CStr = match status {
        0 => c"NRT_SUCCESS",
        2 => c"NRT_INVALID",
        3 => c"NRT_INVALID_HANDLE",
        4 => c"NRT_RESOURCE",
        13 => c"NRT_UNINITIALIZED",
        14 => c"NRT_CLOSED",
        _ => return std::ptr::null(),
    };
    text.as_ptr()
}
