//! Functions for tests alone: settings, a callback before each call, counts. libnrt has none of them.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::settings::Settings;
use crate::state::STATE;

/// Called before each function does its work, with its name.
type Callback = extern "C" fn(name: *const c_char, data: *mut c_void);

/// The callback and its data, as a number: the test owns what it points to.
static CALLBACK: Mutex<Option<(Callback, usize)>> = Mutex::new(None);

static CALLS: [AtomicU64; FUNCTIONS.len()] = [const { AtomicU64::new(0) }; FUNCTIONS.len()];

/// In the order of the fields of [`StandinCounters`].
const FUNCTIONS: [&CStr; 10] = [
    c"nrt_init",
    c"nrt_close",
    c"nrt_tensor_allocate",
    c"nrt_tensor_allocate_slice",
    c"nrt_tensor_free",
    c"nrt_tensor_read",
    c"nrt_tensor_write",
    c"nrt_tensor_copy",
    c"nrt_tensor_memset",
    c"nrt_debug_log_oom_report",
];

/// Calls of each function so far, and what is held.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StandinCounters {
    /// `nrt_init`.
    pub inits: u64,
    /// `nrt_close`.
    pub closes: u64,
    /// `nrt_tensor_allocate`.
    pub allocations: u64,
    /// `nrt_tensor_allocate_slice`.
    pub slices: u64,
    /// `nrt_tensor_free`.
    pub frees: u64,
    /// `nrt_tensor_read`.
    pub reads: u64,
    /// `nrt_tensor_write`.
    pub writes: u64,
    /// `nrt_tensor_copy`.
    pub copies: u64,
    /// `nrt_tensor_memset`.
    pub fills: u64,
    /// `nrt_debug_log_oom_report`.
    pub reports: u64,
    /// Frees of a handle that is none.
    pub invalid_frees: u64,
    /// Tensors and slices held.
    pub live_tensors: u64,
    /// Allocations whose memory is held, by a tensor or a slice.
    pub live_storages: u64,
    /// Their bytes.
    pub held_bytes: u64,
}

/// Notes a call and runs the callback. Holds no lock while it runs.
pub(crate) fn arrive(function: &CStr) {
    if let Some(idx) = FUNCTIONS.iter().position(|known| *known == function) {
        CALLS[idx].fetch_add(1, Ordering::SeqCst);
    }
    let callback = *CALLBACK.lock();
    if let Some((callback, data)) = callback {
        callback(function.as_ptr(), std::ptr::with_exposed_provenance_mut(data));
    }
}

/// Changes settings, as items `name=value` with `;` between them, until the next change. 0, or 1 for
/// a bad one. Counts for the next `nrt_init`.
///
/// # Safety
///
/// `text` is a text that ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_standin_configure(text: *const c_char) -> c_int {
    // SAFETY: by the contract.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    if Settings::default().apply(&text).is_err() {
        return 1;
    }
    STATE.lock().overrides = text;
    0
}

/// Sets what runs before each call; null for nothing.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_standin_set_callback(callback: Option<Callback>, data: *mut c_void) {
    *CALLBACK.lock() = callback.map(|callback| (callback, data.expose_provenance()));
}

/// Reads the counts.
///
/// # Safety
///
/// `into` points to a struct to be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_standin_counters(into: *mut StandinCounters) {
    let calls = |idx: usize| CALLS[idx].load(Ordering::SeqCst);
    let state = STATE.lock();
    let (tensors, storages, held_bytes) = state.counts();
    let counters = StandinCounters {
        inits: calls(0),
        closes: calls(1),
        allocations: calls(2),
        slices: calls(3),
        frees: calls(4),
        reads: calls(5),
        writes: calls(6),
        copies: calls(7),
        fills: calls(8),
        reports: calls(9),
        invalid_frees: state.invalid_frees,
        live_tensors: tensors as u64,
        live_storages: storages as u64,
        held_bytes,
    };
    // SAFETY: by the contract.
    unsafe { into.write(counters) }
}
