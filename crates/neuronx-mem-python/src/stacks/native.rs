//! Native frames on top of Python's: what C, C++ and Rust do below the innermost Python call.
//!
//! Names come from the dynamic symbol tables, without debug information: cheap, no lines. Frames of this
//! module and frames without a name are left out, and all from the interpreter down when Python frames follow.

#![expect(unsafe_code, reason = "the dynamic linker is asked what is at an address")]

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;

use libloading::os::unix::Library;
use neuronx_mem::snapshot::{FrameId, StackTable};
use smallvec::SmallVec;

use super::Places;
use super::table::Place;

/// Deeper frames are left out.
const MOST_FRAMES: usize = 128;

type Demangle = unsafe extern "C" fn(
    name: *const c_char,
    buffer: *mut c_char,
    length: *mut usize,
    status: *mut c_int,
) -> *mut c_char;

/// Adds the native frames of this thread, innermost first.
pub(super) fn walk(places: &mut Places) {
    backtrace::trace(|frame| {
        places.push(Place { code: 0, position: frame.ip() as usize });
        places.len() < MOST_FRAMES
    });
}

/// Looks addresses up, each once.
#[derive(Debug)]
pub(super) struct NativeSymbols {
    known: HashMap<usize, Option<Symbol>>,
    /// Where this module is loaded.
    own_base: usize,
    /// Where the interpreter is loaded.
    python_base: usize,
    /// Of the C++ library, where there is one in the process.
    demangle: Option<Demangle>,
}

#[derive(Clone, Debug)]
struct Symbol {
    base: usize,
    name: Option<String>,
    file: String,
}

impl NativeSymbols {
    pub(super) fn new() -> Self {
        // SAFETY: the signature is that of the C++ ABI.
        let demangle =
            unsafe { Library::this().get::<Demangle>(b"__cxa_demangle\0") }.ok().map(|found| *found);
        let mut symbols = Self { known: HashMap::new(), own_base: 0, python_base: 0, demangle };
        symbols.own_base = symbols.look_up(walk as *const () as usize).map_or(0, |symbol| symbol.base);
        let python = pyo3::ffi::PyEval_GetFrame as *const () as usize;
        symbols.python_base = symbols.look_up(python).map_or(0, |symbol| symbol.base);
        symbols
    }

    /// Adds the frames of a stack that are worth showing.
    pub(super) fn add<A: smallvec::Array<Item = FrameId>>(
        &mut self,
        native: &[Place],
        is_above_python: bool,
        table: &mut StackTable,
        frames: &mut SmallVec<A>,
    ) {
        for place in native {
            // A return address is one behind the call.
            let symbol = self.look_up(place.position.saturating_sub(1));
            match symbol {
                Some(symbol) if symbol.base == self.own_base => {}
                Some(symbol) if is_above_python && symbol.base == self.python_base => break,
                Some(Symbol { name: Some(name), file, .. }) => {
                    frames.push(table.intern_frame(&name, &file, 0))
                }
                // Most functions of a stripped library have no name, and say nothing.
                Some(_) | None => {}
            }
        }
    }

    fn look_up(&mut self, address: usize) -> Option<Symbol> {
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        let found = self.ask(address);
        self.known.insert(address, found.clone());
        found
    }

    fn ask(&self, address: usize) -> Option<Symbol> {
        let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: any address is allowed, and the place is large enough.
        if unsafe { libc::dladdr(address as *const c_void, info.as_mut_ptr()) } == 0 {
            return None;
        }
        // SAFETY: all zeroes is a value, and dladdr has written a better one.
        let info = unsafe { info.assume_init() };
        let file = text(info.dli_fname).unwrap_or_else(|| "??".to_owned());
        Some(Symbol { base: info.dli_fbase as usize, name: self.name(info.dli_sname), file })
    }

    fn name(&self, mangled: *const c_char) -> Option<String> {
        let plain = text(mangled)?;
        let Some(demangle) = self.demangle else { return Some(plain) };
        let mut status = 0;
        // SAFETY: a text of the linker; no buffer is given, so one is made.
        let made = unsafe { demangle(mangled, std::ptr::null_mut(), std::ptr::null_mut(), &raw mut status) };
        let demangled = if status == 0 { text(made) } else { None };
        // SAFETY: null, or made by malloc and not used any more.
        unsafe { libc::free(made.cast()) };
        Some(demangled.unwrap_or(plain))
    }
}

/// A copy of a C text; `None` for null.
fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not null, and a text of the dynamic linker or of the demangler.
    Some(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}
