//! Finds the functions of a library and its version. Starts nothing: a library that is refused here
//! is unloaded again, and nothing of it has run but its loader hooks.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use libloading::Library;

use crate::builder::{LIBRARY_VARIABLE, RUNTIME_PACKAGE};
use crate::ffi::{
    AddressFn, AllocateFn, AllocationInfoFn, CloseFn, CopyFn, CountFn, FreeFn, InitFn, InstanceInfoFn,
    MemoryStatsFn, MemsetFn, RawVersion, ReadFn, ReportFn, SizeFn, SliceFn, StatusTextFn, VersionFn, WriteFn,
};
use crate::{NrtError, NrtStatus, NrtVersion, Symbol};

/// The functions that were found. They are valid as long as the library is loaded.
#[derive(Clone, Copy)]
pub(crate) struct Api {
    pub(crate) init: InitFn,
    pub(crate) close: CloseFn,
    pub(crate) version: VersionFn,
    pub(crate) allocate: AllocateFn,
    pub(crate) free: FreeFn,
    pub(crate) slice: SliceFn,
    pub(crate) address: AddressFn,
    pub(crate) size: SizeFn,
    pub(crate) read: ReadFn,
    pub(crate) write: WriteFn,
    pub(crate) visible_count: CountFn,
    pub(crate) copy: Option<CopyFn>,
    pub(crate) memset: Option<MemsetFn>,
    pub(crate) memory_stats: Option<MemoryStatsFn>,
    pub(crate) allocation_info: Option<AllocationInfoFn>,
    pub(crate) instance_info: Option<InstanceInfoFn>,
    pub(crate) status_text: Option<StatusTextFn>,
    pub(crate) oom_report: Option<ReportFn>,
}

/// A loaded library with its functions.
pub(crate) struct Loaded {
    pub(crate) api: Api,
    pub(crate) path: PathBuf,
    pub(crate) version: NrtVersion,
    pub(crate) found: Vec<Symbol>,
    /// Keeps the functions valid.
    _library: Library,
}

impl Loaded {
    /// Loads a library and looks at it. Its `nrt_init` has not been called.
    pub(crate) fn open(path: &Path) -> Result<Self, NrtError> {
        let library = load(path)?;
        let missing = |symbol| NrtError::MissingSymbol { path: path.to_owned(), symbol };
        let found: Vec<Symbol> =
            Symbol::ALL.iter().copied().filter(|symbol| exists(&library, *symbol)).collect();
        let lacking = Symbol::ALL.iter().find(|symbol| symbol.is_required() && !found.contains(symbol));
        if let Some(symbol) = lacking {
            return Err(missing(*symbol));
        }
        let api = api(&library).map_err(missing)?;
        let version = version(&api)?;
        if !version.is_supported() {
            let (path, supported) = (path.to_owned(), NrtVersion::SUPPORTED_MAJOR);
            return Err(NrtError::UnsupportedVersion { path, version, supported });
        }
        Ok(Self { api, path: path.to_owned(), version, found, _library: library })
    }

    /// The same for two loads of one library, and for no two libraries.
    pub(crate) fn identity(&self) -> usize {
        self.api.init as usize
    }
}

#[expect(unsafe_code, reason = "loading a library runs its initialisers")]
fn load(path: &Path) -> Result<Library, NrtError> {
    let name: &OsStr = path.as_os_str();
    // SAFETY: the caller of the builder names a libnrt, whose initialisers are those that every
    // program linked with it runs; nothing else of this process depends on their order.
    let loaded = unsafe { Library::new(name) };
    loaded.map_err(|error| NrtError::LibraryNotFound {
        path: path.to_owned(),
        reason: reason(path, &error),
        package: RUNTIME_PACKAGE,
        variable: LIBRARY_VARIABLE,
    })
}

/// What the system says, which libloading keeps behind its own error; without the path that the message
/// names anyway.
fn reason(path: &Path, error: &libloading::Error) -> String {
    let said = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    let prefix = format!("{}: ", path.display());
    said.strip_prefix(&prefix).map_or(said.clone(), str::to_owned)
}

fn exists(library: &Library, symbol: Symbol) -> bool {
    get::<*const ()>(library, symbol).is_some()
}

/// A function by its name, as a pointer of type `T`.
#[expect(unsafe_code, reason = "only the header knows the types of a library's functions")]
fn get<T: Copy>(library: &Library, symbol: Symbol) -> Option<T> {
    // SAFETY: every caller asks for the type that `ffi.rs` gives this symbol after the public headers;
    // the major version, which decides on signatures, is checked before a function is called.
    let found = unsafe { library.get::<T>(symbol.name()) };
    found.ok().map(|function| *function)
}

fn api(library: &Library) -> Result<Api, Symbol> {
    fn need<T: Copy>(library: &Library, symbol: Symbol) -> Result<T, Symbol> {
        get(library, symbol).ok_or(symbol)
    }
    let count = get::<CountFn>(library, Symbol::VisibleVncCount);
    let count = count.or_else(|| get(library, Symbol::VisibleNcCount));
    Ok(Api {
        init: need(library, Symbol::Init)?,
        close: need(library, Symbol::Close)?,
        version: need(library, Symbol::GetVersion)?,
        allocate: need(library, Symbol::TensorAllocate)?,
        free: need(library, Symbol::TensorFree)?,
        slice: need(library, Symbol::TensorAllocateSlice)?,
        address: need(library, Symbol::TensorGetVa)?,
        size: need(library, Symbol::TensorGetSize)?,
        read: need(library, Symbol::TensorRead)?,
        write: need(library, Symbol::TensorWrite)?,
        visible_count: count.ok_or(Symbol::VisibleVncCount)?,
        copy: get(library, Symbol::TensorCopy),
        memset: get(library, Symbol::TensorMemset),
        memory_stats: get(library, Symbol::VncMemoryStats),
        allocation_info: get(library, Symbol::DeviceAllocationInfo),
        instance_info: get(library, Symbol::InstanceInfo),
        status_text: get(library, Symbol::StatusText),
        oom_report: get(library, Symbol::DebugLogOomReport),
    })
}

#[expect(unsafe_code, reason = "a call of the library")]
fn version(api: &Api) -> Result<NrtVersion, NrtError> {
    let mut raw = RawVersion::ZERO;
    // SAFETY: the function fills at most `size` bytes of the struct that the pointer names, which lives
    // until it returns; it may be called before `nrt_init`.
    let status = unsafe { (api.version)(&raw mut raw, size_of::<RawVersion>()) };
    match NrtStatus::from_code(status) {
        NrtStatus::Success => Ok(NrtVersion::from_raw(&raw)),
        status => {
            let device = neuronx_mem_runtime::DeviceId(0);
            Err(NrtError::Call { symbol: Symbol::GetVersion, device, bytes: 0, status })
        }
    }
}
