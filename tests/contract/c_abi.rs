//! The C ABI under the contract: the shared library, opened at run time, through its table alone.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::{Mutex, OnceLock};

use libloading::Library;
use neuronx_mem_capi::{
    nxm_allocator, nxm_block, nxm_device, nxm_memory_info, nxm_options, nxm_released, nxm_status,
    nxm_vtable_v1,
};

use super::facade::{check_libnrt, libnrt_settings};
use super::standin::{Standin, built_library};
use super::subject::{Held, Outcome, Setup, Subject};

type Callback = Box<dyn Fn() + Send + Sync>;

pub(crate) struct CAbi {
    name: &'static str,
    allocator: *mut nxm_allocator,
    device: *const nxm_device,
    standin: Option<Standin>,
    /// What callbacks were registered with; kept to the end.
    #[expect(clippy::vec_box, reason = "the library holds pointers to them")]
    callbacks: Mutex<Vec<Box<Callback>>>,
}

// SAFETY: the library's functions may be called from any thread; the allocator is freed by the owner.
unsafe impl Sync for CAbi {}

/// The library's table. The library stays loaded.
pub(crate) fn api() -> &'static nxm_vtable_v1 {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    type Get = extern "C" fn(u32) -> *const nxm_vtable_v1;
    let library = LIBRARY.get_or_init(|| {
        // SAFETY: it has no initialisers but those of Rust's library.
        unsafe { Library::new(built_library("libneuronx_mem_capi.so")) }.unwrap()
    });
    // SAFETY: the type is that of the header.
    let get = unsafe { library.get::<Get>("nxm_vtable") }.unwrap();
    assert!(get(2).is_null());
    // SAFETY: the table of version 1 is not null and never freed.
    let table = unsafe { get(1).as_ref() }.unwrap();
    assert_eq!((table.table_version, table.struct_size), (1, size_of::<nxm_vtable_v1>()));
    table
}

pub(crate) fn over_simulator(setup: &Setup) -> Box<dyn Subject> {
    Box::new(CAbi::make("C over simulator", setup, None))
}

pub(crate) fn over_libnrt(setup: &Setup) -> Box<dyn Subject> {
    Box::new(CAbi::make("C over libnrt", setup, Some(Standin::new(&libnrt_settings(setup)))))
}

// SAFETY of all calls below: pointers come from the library or are to locals, texts end in NUL, and
// nobody frees the allocator before `end`.

impl CAbi {
    pub(crate) fn make(name: &'static str, setup: &Setup, standin: Option<Standin>) -> Self {
        let api = api();
        let config = CString::new(setup.config).unwrap();
        let path = standin.as_ref().map(|standin| CString::new(standin.path.to_str().unwrap()).unwrap());
        let mut options: *mut nxm_options = ptr::null_mut();
        let mut allocator = ptr::null_mut();
        let mut device = ptr::null();
        // SAFETY: as above.
        unsafe {
            ok((api.options_new)(&raw mut options));
            match &path {
                Some(path) => ok((api.options_use_libnrt)(options, path.as_ptr())),
                None => {
                    let (chip, lnc) = (c"trn2".as_ptr(), 2);
                    ok((api.options_use_simulator)(options, chip, lnc, setup.devices, setup.memory_bytes));
                }
            }
            ok((api.options_set_config)(options, config.as_ptr()));
            ok((api.options_set_oom_recovery)(options, setup.has_recovery));
            ok((api.allocator_new)(options, &raw mut allocator));
            (api.options_free)(options);
            ok((api.allocator_device)(allocator, 0, &raw mut device));
        }
        Self { name, allocator, device, standin, callbacks: Mutex::default() }
    }

    pub(crate) fn device(&self) -> *const nxm_device {
        self.device
    }
}

#[track_caller]
fn ok(status: nxm_status) {
    assert_eq!(status, nxm_status::NXM_OK, "{}", message());
}

pub(crate) fn message() -> String {
    // SAFETY: as above.
    unsafe { CStr::from_ptr((api().last_error_message)()) }.to_string_lossy().into_owned()
}

fn outcome(status: nxm_status) -> Result<(), Outcome> {
    let failed = match status {
        nxm_status::NXM_OK => return Ok(()),
        nxm_status::NXM_OUT_OF_MEMORY => Outcome::OutOfMemory,
        nxm_status::NXM_RUNTIME => {
            Outcome::Runtime(u32::try_from((api().last_error_runtime_status)()).unwrap())
        }
        nxm_status::NXM_SIZE_OVERFLOW => Outcome::SizeOverflow,
        nxm_status::NXM_UNKNOWN_STREAM => Outcome::UnknownStream,
        nxm_status::NXM_INVALID_BLOCK => Outcome::InvalidBlock,
        _ => Outcome::Other,
    };
    assert!(!message().is_empty());
    Err(failed)
}

fn taken(status: nxm_status, text: *mut c_char) -> String {
    ok(status);
    // SAFETY: as above; the library has just handed it out.
    let copy = unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned();
    // SAFETY: as above, once.
    unsafe { (api().string_free)(text) };
    copy
}

fn block(held: &Held) -> nxm_block {
    let Held { id, address, requested_bytes, block_bytes, extent_bytes } = *held;
    nxm_block { id, address, requested_bytes, block_bytes, extent_bytes, device: 0, reserved: 0 }
}

unsafe extern "C" fn run_callback(data: *mut c_void) {
    // SAFETY: registered with a pointer to a callback that the subject keeps.
    unsafe { (*data.cast::<Callback>())() }
}

unsafe extern "C" fn collect(key: *const c_char, value: i64, data: *mut c_void) {
    // SAFETY: called with the map of `stats_of`, which waits for the visit to end.
    let map = unsafe { &mut *data.cast::<BTreeMap<String, i64>>() };
    // SAFETY: a text that is valid for the call.
    let key = unsafe { CStr::from_ptr(key) };
    map.insert(key.to_str().unwrap().to_owned(), value);
}

impl Subject for CAbi {
    fn name(&self) -> &'static str {
        self.name
    }

    fn has_faults(&self) -> bool {
        self.standin.is_some()
    }

    fn allocate(&self, bytes: u64, stream: u32) -> Result<Held, Outcome> {
        let mut block = nxm_block::default();
        // SAFETY: as above.
        outcome(unsafe { (api().allocate)(self.device, bytes, stream, &raw mut block) })?;
        let nxm_block { id, address, requested_bytes, block_bytes, extent_bytes, .. } = block;
        Ok(Held { id, address, requested_bytes, block_bytes, extent_bytes })
    }

    fn free(&self, held: &Held) -> Result<(), Outcome> {
        let block = block(held);
        // SAFETY: as above.
        outcome(unsafe { (api().free)(self.device, &raw const block) })
    }

    fn record_stream(&self, held: &Held, stream: u32) -> Result<(), Outcome> {
        let block = block(held);
        // SAFETY: as above.
        outcome(unsafe { (api().record_stream)(self.device, &raw const block, stream) })
    }

    fn new_stream(&self) -> u32 {
        let mut stream = 0;
        // SAFETY: as above.
        ok(unsafe { (api().stream_new)(self.device, &raw mut stream) });
        stream
    }

    fn submit(&self, stream: u32) -> u64 {
        let mut ticket = 0;
        // SAFETY: as above.
        ok(unsafe { (api().stream_submit)(self.device, stream, &raw mut ticket) });
        ticket
    }

    fn complete(&self, stream: u32, ticket: u64) -> Result<(), Outcome> {
        // SAFETY: as above.
        outcome(unsafe { (api().stream_complete)(self.device, stream, ticket) })
    }

    fn synchronize(&self) {
        // SAFETY: as above.
        ok(unsafe { (api().synchronize)(self.device) });
    }

    fn empty_cache(&self) -> (u64, u64) {
        let mut released = nxm_released::default();
        // SAFETY: as above.
        ok(unsafe { (api().empty_cache)(self.allocator, &raw mut released) });
        (released.segments, released.bytes)
    }

    fn stats_of(&self, device: u32) -> BTreeMap<String, i64> {
        let (mut found, mut map) = (ptr::null(), BTreeMap::new());
        // SAFETY: as above.
        ok(unsafe { (api().allocator_device)(self.allocator, device, &raw mut found) });
        // SAFETY: as above.
        ok(unsafe { (api().for_each_memory_stat)(found, Some(collect), (&raw mut map).cast()) });
        map
    }

    fn summary(&self) -> String {
        let mut text = ptr::null_mut();
        // SAFETY: as above.
        let status = unsafe { (api().memory_summary)(self.device, &raw mut text) };
        taken(status, text)
    }

    fn analysis_summary(&self) -> String {
        let mut text = ptr::null_mut();
        // SAFETY: as above.
        let status = unsafe { (api().segment_pool_analysis_summary)(self.device, &raw mut text) };
        taken(status, text)
    }

    fn reset_peak(&self) {
        // SAFETY: as above.
        ok(unsafe { (api().reset_peak_memory_stats)(self.device) });
    }

    fn reset_accumulated(&self) {
        // SAFETY: as above.
        ok(unsafe { (api().reset_accumulated_memory_stats)(self.device) });
    }

    fn set_cap(&self, bytes: u64) {
        // SAFETY: as above.
        ok(unsafe { (api().set_memory_cap)(self.device, bytes) });
    }

    fn memory_info(&self) -> (u64, u64) {
        let mut info = nxm_memory_info::default();
        // SAFETY: as above.
        ok(unsafe { (api().get_memory_info)(self.device, &raw mut info) });
        (info.used_bytes, info.total_bytes)
    }

    fn on_release(&self, callback: Callback) -> u64 {
        let (callback, mut id) = (Box::new(callback), 0);
        let data = (&raw const *callback).cast_mut().cast();
        // SAFETY: as above; the callback is kept to the end.
        ok(unsafe { (api().register_release_callback)(self.device, Some(run_callback), data, &raw mut id) });
        self.callbacks.lock().unwrap().push(callback);
        id
    }

    fn forget_release(&self, id: u64) -> bool {
        // SAFETY: as above.
        unsafe { (api().unregister_release_callback)(self.device, id) == nxm_status::NXM_OK }
    }

    fn snapshot_json(&self) -> String {
        let (mut bytes, mut len) = (ptr::null_mut(), 0);
        // SAFETY: as above.
        ok(unsafe { (api().snapshot)(self.allocator, true, &raw mut bytes, &raw mut len) });
        // SAFETY: the library has just handed them out.
        let text = unsafe { std::slice::from_raw_parts(bytes, len) }.to_vec();
        // SAFETY: once.
        unsafe { (api().bytes_free)(bytes, len) };
        String::from_utf8(text).unwrap()
    }

    fn end(self: Box<Self>) {
        // SAFETY: the owner ends it.
        unsafe { (api().allocator_free)(self.allocator) };
        self.standin.iter().for_each(check_libnrt);
    }
}
