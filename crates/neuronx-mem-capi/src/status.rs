//! The codes that functions return. Numbers never change their meaning; new ones are added at the end.

use std::ffi::{CStr, c_char};

/// What a function came to.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum nxm_status {
    /// It did what was asked.
    NXM_OK = 0,
    /// A pointer is null, a text is not UTF-8, a struct is too small, a value cannot be.
    NXM_INVALID_ARGUMENT = 1,
    /// The device has no memory for the request, also after recovery.
    NXM_OUT_OF_MEMORY = 2,
    /// The device runtime failed for another reason; nxm_last_error_runtime_status() has its status.
    NXM_RUNTIME = 3,
    /// The request is too large for any device.
    NXM_SIZE_OVERFLOW = 4,
    /// There is no such device.
    NXM_UNKNOWN_DEVICE = 5,
    /// There is no such stream, or work was completed that was never submitted.
    NXM_UNKNOWN_STREAM = 6,
    /// The block was freed before, or was never handed out.
    NXM_INVALID_BLOCK = 7,
    /// This build or this runtime cannot do it.
    NXM_UNSUPPORTED = 8,
    /// The library of the device runtime cannot be opened or started.
    NXM_LIBRARY = 9,
    /// Work on a stream has failed, or the device's worker refused it.
    NXM_WORK_FAILED = 10,
    /// A file could not be written.
    NXM_IO = 11,
    /// A fault of this library; the process goes on.
    NXM_INTERNAL = 12,
}

impl nxm_status {
    const fn name(self) -> &'static CStr {
        match self {
            Self::NXM_OK => c"NXM_OK",
            Self::NXM_INVALID_ARGUMENT => c"NXM_INVALID_ARGUMENT",
            Self::NXM_OUT_OF_MEMORY => c"NXM_OUT_OF_MEMORY",
            Self::NXM_RUNTIME => c"NXM_RUNTIME",
            Self::NXM_SIZE_OVERFLOW => c"NXM_SIZE_OVERFLOW",
            Self::NXM_UNKNOWN_DEVICE => c"NXM_UNKNOWN_DEVICE",
            Self::NXM_UNKNOWN_STREAM => c"NXM_UNKNOWN_STREAM",
            Self::NXM_INVALID_BLOCK => c"NXM_INVALID_BLOCK",
            Self::NXM_UNSUPPORTED => c"NXM_UNSUPPORTED",
            Self::NXM_LIBRARY => c"NXM_LIBRARY",
            Self::NXM_WORK_FAILED => c"NXM_WORK_FAILED",
            Self::NXM_IO => c"NXM_IO",
            Self::NXM_INTERNAL => c"NXM_INTERNAL",
        }
    }

    const ALL: [Self; 13] = [
        Self::NXM_OK,
        Self::NXM_INVALID_ARGUMENT,
        Self::NXM_OUT_OF_MEMORY,
        Self::NXM_RUNTIME,
        Self::NXM_SIZE_OVERFLOW,
        Self::NXM_UNKNOWN_DEVICE,
        Self::NXM_UNKNOWN_STREAM,
        Self::NXM_INVALID_BLOCK,
        Self::NXM_UNSUPPORTED,
        Self::NXM_LIBRARY,
        Self::NXM_WORK_FAILED,
        Self::NXM_IO,
        Self::NXM_INTERNAL,
    ];
}

/// The name of a status, such as "NXM_OK"; "unknown" for a number that is none. Never freed.
#[unsafe(no_mangle)]
pub extern "C" fn nxm_status_name(status: i32) -> *const c_char {
    let known = nxm_status::ALL.into_iter().find(|known| *known as i32 == status);
    known.map_or(c"unknown", nxm_status::name).as_ptr()
}
