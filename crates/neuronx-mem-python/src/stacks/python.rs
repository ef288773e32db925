//! Frames of the interpreter. Knows four functions that the stable ABI lacks and every interpreter has:
//! they are looked up in the process. Without them (another implementation of Python) no stack is found.

#![expect(unsafe_code, reason = "frames are walked with functions of the interpreter")]

use std::ffi::c_int;

use libloading::os::unix::Library;
use pyo3::ffi;
use pyo3::prelude::*;

use super::Places;
use super::table::Place;

/// Deeper frames are left out.
const MOST_FRAMES: usize = 512;

type GetBack = unsafe extern "C" fn(frame: *mut ffi::PyFrameObject) -> *mut ffi::PyFrameObject;
type GetLasti = unsafe extern "C" fn(frame: *mut ffi::PyFrameObject) -> c_int;
type HasLock = unsafe extern "C" fn() -> c_int;
type AddrToLine = unsafe extern "C" fn(code: *mut ffi::PyCodeObject, position: c_int) -> c_int;

/// The functions that walk frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frames {
    back: GetBack,
    /// Before Python 3.11 there is none: the line is taken at once, which costs more.
    instruction: Option<(GetLasti, AddrToLine)>,
    /// Whether the calling thread holds the interpreter's lock.
    has_lock: HasLock,
}

impl Frames {
    pub(super) fn find(_: Python<'_>) -> Option<Self> {
        let process = Library::this();
        // SAFETY: the signature is that of CPython's headers since 3.9.
        let back = *unsafe { process.get::<GetBack>(b"PyFrame_GetBack\0") }.ok()?;
        // SAFETY: as in CPython's headers since 3.11.
        let instruction = unsafe { process.get::<GetLasti>(b"PyFrame_GetLasti\0") };
        // SAFETY: as in CPython's headers since 2.x.
        let line = unsafe { process.get::<AddrToLine>(b"PyCode_Addr2Line\0") };
        // SAFETY: as in CPython's headers since 3.4.
        let has_lock = *unsafe { process.get::<HasLock>(b"PyGILState_Check\0") }.ok()?;
        let instruction = instruction.ok().zip(line.ok()).map(|(instruction, line)| (*instruction, *line));
        Some(Self { back, instruction, has_lock })
    }

    /// Whether this thread holds the interpreter's lock. May be asked on any thread.
    pub(super) fn has_lock(&self) -> bool {
        // SAFETY: takes nothing and needs no lock.
        unsafe { (self.has_lock)() == 1 }
    }

    /// Adds the frames of this thread, innermost first. Runs no code of Python and raises nothing.
    pub(super) fn walk(&self, _: Python<'_>, places: &mut Places) {
        // SAFETY: the interpreter lock is held; the result is borrowed, or null.
        let mut frame = unsafe { ffi::PyEval_GetFrame() };
        // SAFETY: null, or a live frame; owned from here on.
        unsafe { ffi::Py_XINCREF(frame.cast()) };
        let most = places.len() + MOST_FRAMES;
        while !frame.is_null() && places.len() < most {
            places.push(self.place(frame));
            // SAFETY: the frame is owned; the result is a new reference, or null.
            let back = unsafe { (self.back)(frame) };
            // SAFETY: the frame is owned, and not used any more.
            unsafe { ffi::Py_DECREF(frame.cast()) };
            frame = back;
        }
        // SAFETY: null, or owned.
        unsafe { ffi::Py_XDECREF(frame.cast()) };
    }

    fn place(&self, frame: *mut ffi::PyFrameObject) -> Place {
        // SAFETY: the caller owns the frame; the result is a new reference and never null.
        let code = unsafe { ffi::PyFrame_GetCode(frame) };
        // SAFETY: owned; the frame on this thread's stack keeps the code alive.
        unsafe { ffi::Py_DECREF(code.cast()) };
        let position = match self.instruction {
            // SAFETY: the caller owns the frame.
            Some((instruction, _)) => unsafe { instruction(frame) },
            // SAFETY: as above.
            None => unsafe { ffi::PyFrame_GetLineNumber(frame) },
        };
        Place { code: code as usize, position: usize::try_from(position).unwrap_or(0) }
    }

    /// Name, file and line of a place that [`keep`] was told of.
    pub(super) fn describe(&self, py: Python<'_>, place: &Place) -> (String, String, u64) {
        let code = place.code as *mut ffi::PyObject;
        // SAFETY: a code object that is kept alive for ever.
        let object = unsafe { Bound::from_borrowed_ptr(py, code) };
        let text = |name: &str| {
            let text = object.getattr(name).and_then(|text| text.extract::<String>());
            text.unwrap_or_else(|_| "??".to_owned())
        };
        let position = c_int::try_from(place.position).unwrap_or(0);
        let line = match self.instruction {
            // SAFETY: a code object that is kept alive for ever; any position is allowed.
            Some((_, line)) => unsafe { line(code.cast(), position) },
            None => position,
        };
        (text("co_name"), text("co_filename"), u64::try_from(line).unwrap_or(0))
    }
}

/// Keeps the code of a place alive for ever, so that no other code gets its address.
pub(super) fn keep(_: Python<'_>, place: &Place) {
    if !place.is_native() {
        // SAFETY: a code object of a frame on this thread's stack, so alive; the lock is held.
        unsafe { ffi::Py_INCREF(place.code as *mut ffi::PyObject) };
    }
}
