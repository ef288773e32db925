//! From pointers of C to references, and results back. Refuses null; the rest of a pointer's validity
//! is its caller's promise, which every function of the ABI repeats.

use std::ffi::{CStr, CString, c_char};

use crate::errors::Failure;
use crate::text::to_c;

/// What an object of the ABI is, for messages.
fn null(what: &str) -> Failure {
    Failure::invalid(format!("{what} is null"))
}

/// # Safety
///
/// `pointer` is null, or points to a `T` that lives, and is not written, as long as the result.
pub(crate) unsafe fn borrow<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: by the contract.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(what))
}

/// # Safety
///
/// `pointer` is null, or points to a `T` that lives, and that nobody else uses, as long as the result.
pub(crate) unsafe fn borrow_mut<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: by the contract.
    unsafe { pointer.as_mut() }.ok_or_else(|| null(what))
}

/// # Safety
///
/// `text` is null, or ends in NUL and lives as long as the result.
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(null(what));
    }
    // SAFETY: by the contract, and not null.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Failure::invalid(format!("{what} is not UTF-8")))
}

/// # Safety
///
/// As for [`text`]; null is no text.
pub(crate) unsafe fn optional_text<'a>(
    pointer: *const c_char,
    what: &str,
) -> Result<Option<&'a str>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: by the contract.
    unsafe { text(pointer, what) }.map(Some)
}

/// Writes a result; `compute` runs only when there is a place for it.
///
/// # Safety
///
/// `out` is null, or points to a place for a `T`, which may be uninitialised.
pub(crate) unsafe fn put<T>(
    out: *mut T,
    compute: impl FnOnce() -> Result<T, Failure>,
) -> Result<(), Failure> {
    if out.is_null() {
        return Err(null("the place for the result"));
    }
    let value = compute()?;
    // SAFETY: by the contract, and not null.
    unsafe { out.write(value) };
    Ok(())
}

/// Hands out a text, to be freed by `nxm_string_free`.
///
/// # Safety
///
/// As for [`put`].
pub(crate) unsafe fn put_text(
    out: *mut *mut c_char,
    compute: impl FnOnce() -> Result<String, Failure>,
) -> Result<(), Failure> {
    // SAFETY: by the contract.
    unsafe { put(out, || compute().map(|text| CString::into_raw(to_c(&text)))) }
}

/// Structs that start with their size, which the caller sets and which may grow at their end.
///
/// # Safety
///
/// `repr(C)`, with the size as a `usize` first, and without padding.
pub(crate) unsafe trait Growing: Copy {
    /// The same with another size.
    fn with_struct_size(self, size: usize) -> Self;
}

/// Writes as much of a struct as the caller has room for, and says how much that was.
///
/// # Safety
///
/// `out` is null, or points to as many bytes as its first field says.
pub(crate) unsafe fn put_sized<T: Growing>(
    out: *mut T,
    compute: impl FnOnce() -> Result<T, Failure>,
) -> Result<(), Failure> {
    if out.is_null() {
        return Err(null("the place for the result"));
    }
    // SAFETY: by the contract at least the size is there and set.
    let room = unsafe { out.cast::<usize>().read() };
    if room < 2 * size_of::<usize>() {
        return Err(Failure::invalid(format!("struct_size is {room}: set it to the size of the struct")));
    }
    let n_bytes = room.min(size_of::<T>());
    let value = compute()?.with_struct_size(n_bytes);
    // SAFETY: `n_bytes` are in both, by the contract and by `min`; the source is a local.
    unsafe { std::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), out.cast::<u8>(), n_bytes) };
    Ok(())
}
