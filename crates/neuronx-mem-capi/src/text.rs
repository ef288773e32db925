//! Texts for C: made here, freed here.

use std::ffi::{CString, c_char};

/// A text for C; a NUL inside it becomes a blank.
pub(crate) fn to_c(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// Frees a text that a function of this library has handed out; nothing for null.
///
/// # Safety
///
/// `text` is such a text, and was not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_string_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: by the contract, made by `CString::into_raw`.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Frees bytes that a function of this library has handed out; nothing for null.
///
/// # Safety
///
/// `bytes` and `len` are as that function gave them, and were not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_bytes_free(bytes: *mut u8, len: usize) {
    if !bytes.is_null() {
        // SAFETY: by the contract, made by `Box::into_raw` of a slice of this length.
        drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(bytes, len)) });
    }
}
