//! Versions of the library and of the ABI.

use std::ffi::{CStr, c_char};

/// The version of the ABI in this header. It grows when a function or struct changes its meaning; new
/// functions, and new fields at the end of sized structs, leave it.
pub const NXM_ABI_VERSION: u32 = 1;

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// The version of the ABI of the library that is loaded.
#[unsafe(no_mangle)]
pub extern "C" fn nxm_abi_version() -> u32 {
    NXM_ABI_VERSION
}

/// The version of the library, such as "0.1.0". Never freed.
#[unsafe(no_mangle)]
pub extern "C" fn nxm_version() -> *const c_char {
    CStr::from_bytes_with_nul(VERSION.as_bytes()).unwrap_or(c"").as_ptr()
}

/// The text of `neuronx_mem.h`, which declares what this library has.
pub const NXM_HEADER: &str = include_str!("../include/neuronx_mem.h");
