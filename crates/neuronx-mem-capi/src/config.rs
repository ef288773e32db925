//! The allocator keys in force, and what is wrong with a text of keys.

use std::ffi::c_char;

use neuronx_mem::AllocatorConfig;
use neuronx_mem::config::ConfigKey;

use crate::allocator::nxm_allocator;
use crate::errors::{Failure, guard};
use crate::nxm_status;
use crate::pointers::{borrow, put, put_text, text};

/// The value of a key, such as "kPoolBoundary".
///
/// # Safety
///
/// `allocator` is null or valid, `key` null or a text, `out` null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_config_get(
    allocator: *const nxm_allocator,
    key: *const c_char,
    out: *mut u64,
) -> nxm_status {
    let read = || {
        // SAFETY: by the contract.
        let allocator = unsafe { borrow(allocator, "allocator") }?;
        // SAFETY: by the contract.
        let key = unsafe { text(key, "key") }?;
        let known =
            ConfigKey::by_name(key).ok_or_else(|| Failure::invalid(format!("unknown key `{key}`")))?;
        Ok(allocator.allocator.config().get(known))
    };
    // SAFETY: by the contract.
    guard(|| unsafe { put(out, read) })
}

/// The keys that differ from their defaults, in the form of the variable; to be freed by
/// nxm_string_free().
///
/// # Safety
///
/// `allocator` is null or valid, `out` null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_config_string(
    allocator: *const nxm_allocator,
    out: *mut *mut c_char,
) -> nxm_status {
    // SAFETY: by the contract.
    let read = || Ok(unsafe { borrow(allocator, "allocator") }?.allocator.config().to_env_string());
    // SAFETY: by the contract.
    guard(|| unsafe { put_text(out, read) })
}

/// A hash of the keys in force, the same on every machine.
///
/// # Safety
///
/// `allocator` is null or valid, `out` null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_config_hash(allocator: *const nxm_allocator, out: *mut u64) -> nxm_status {
    // SAFETY: by the contract.
    let read = || Ok(unsafe { borrow(allocator, "allocator") }?.allocator.config().hash64());
    // SAFETY: by the contract.
    guard(|| unsafe { put(out, read) })
}

/// What is wrong with a text of keys, one line each, empty if nothing; to be freed by nxm_string_free().
///
/// # Safety
///
/// `keys` is null or a text, `out` null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nxm_config_check(keys: *const c_char, out: *mut *mut c_char) -> nxm_status {
    let check = || {
        // SAFETY: by the contract.
        let parsed = AllocatorConfig::parse(unsafe { text(keys, "keys") }?);
        let lines: Vec<String> = parsed.findings.iter().map(ToString::to_string).collect();
        Ok(lines.join("\n"))
    };
    // SAFETY: by the contract.
    guard(|| unsafe { put_text(out, check) })
}
