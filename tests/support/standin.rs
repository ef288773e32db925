//! The stand-in libnrt for one test: a copy of its own, so that its state is nobody else's.

use std::ffi::{CString, c_char, c_int, c_void};
use std::fs;
use std::path::{Path, PathBuf};

use libloading::Library;
use neuronx_mem_nrt::{NrtError, NrtRuntime, NrtRuntimeBuilder};
use tempfile::TempDir;

/// As `StandinCounters` of the stand-in has them.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub inits: u64,
    pub closes: u64,
    pub allocations: u64,
    pub slices: u64,
    pub frees: u64,
    pub reads: u64,
    pub writes: u64,
    pub copies: u64,
    pub fills: u64,
    pub reports: u64,
    pub invalid_frees: u64,
    pub live_tensors: u64,
    pub live_storages: u64,
    pub held_bytes: u64,
}

pub type Callback = extern "C" fn(name: *const c_char, data: *mut c_void);

pub struct Standin {
    library: Library,
    pub path: PathBuf,
    _folder: TempDir,
}

/// The library that cargo has built beside this test.
pub fn built_library(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().unwrap().join(name);
    assert!(path.exists(), "{} is built with the tests", path.display());
    path
}

impl Standin {
    /// A stand-in with these settings, under the name that libnrt has.
    pub fn new(settings: &str) -> Self {
        Self::patched(settings, |_| {})
    }

    /// As `new`, with the file changed before anybody loads it.
    pub fn patched(settings: &str, patch: impl FnOnce(&mut Vec<u8>)) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("libnrt.so.1");
        let mut bytes = fs::read(built_library("libnrt_standin.so")).unwrap();
        patch(&mut bytes);
        fs::write(&path, bytes).unwrap();
        // SAFETY: the stand-in has no initialisers but those of Rust's library.
        let library = unsafe { Library::new(&path) }.unwrap();
        let standin = Self { library, path, _folder: folder };
        standin.configure(settings);
        standin
    }

    fn configure(&self, settings: &str) {
        type Configure = unsafe extern "C" fn(*const c_char) -> c_int;
        let text = CString::new(settings).unwrap();
        // SAFETY: the type is that of the stand-in's source; the text outlives the call.
        let is_bad =
            unsafe { self.library.get::<Configure>("nrt_standin_configure").unwrap()(text.as_ptr()) };
        assert_eq!(is_bad, 0, "{settings}");
    }

    pub fn counters(&self) -> Counters {
        type Read = unsafe extern "C" fn(*mut Counters);
        let mut counters = Counters::default();
        // SAFETY: the type is that of the stand-in's source; the struct outlives the call.
        unsafe { self.library.get::<Read>("nrt_standin_counters").unwrap()(&raw mut counters) };
        counters
    }

    /// Runs `callback` before each call, until another is set.
    pub fn set_callback(&self, callback: Option<Callback>, data: *mut c_void) {
        type Set = unsafe extern "C" fn(Option<Callback>, *mut c_void);
        // SAFETY: the type is that of the stand-in's source; the caller keeps the data until it sets
        // another callback.
        unsafe { self.library.get::<Set>("nrt_standin_set_callback").unwrap()(callback, data) };
    }

    pub fn builder(&self) -> NrtRuntimeBuilder {
        NrtRuntime::builder().path(&self.path)
    }

    pub fn open(&self) -> NrtRuntime {
        self.builder().open().unwrap()
    }

    #[track_caller]
    pub fn refused(&self) -> NrtError {
        self.builder().open().unwrap_err()
    }

    /// An error's text without the folder of this test.
    pub fn text(&self, error: &NrtError) -> String {
        let folder = self.path.parent().map(Path::to_string_lossy).unwrap();
        error.to_string().replace(&*folder, "…")
    }
}
