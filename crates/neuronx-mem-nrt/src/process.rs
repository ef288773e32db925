//! The runtime's life in this process: started once, closed once, never used from a fork. Makes no
//! call but those two.

use std::ffi::CString;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::counters::Counters;
use crate::gate::{Gate, Inside};
use crate::library::Loaded;
use crate::{Framework, NrtError, NrtStatus};

/// Every library that was started in this process, closed ones included: none can be started twice.
/// Entries are never taken out, so a library stays loaded once it has run.
static STARTED: Mutex<Vec<Arc<Process>>> = Mutex::new(Vec::new());

/// The handler that closes at exit is registered.
static HAS_EXIT_HANDLER: AtomicBool = AtomicBool::new(false);

/// A started library.
pub(crate) struct Process {
    pub(crate) loaded: Loaded,
    pub(crate) counters: Counters,
    started_in: u32,
    closes_at_exit: bool,
    /// Every call goes through it: closing waits for calls, and calls after it fail.
    gate: Gate,
}

/// The runtime is open for as long as this lives.
#[derive(Debug)]
pub(crate) struct Entered<'a> {
    _inside: Inside<'a>,
}

/// What `nrt_init` is told, and what happens at the end.
#[derive(Clone, Debug)]
pub(crate) struct StartOptions {
    pub(crate) framework: Framework,
    pub(crate) framework_version: CString,
    pub(crate) closes_at_exit: bool,
}

impl Process {
    /// The library of this path, started; if it was started before, that one.
    pub(crate) fn start(path: &Path, options: &StartOptions) -> Result<Arc<Self>, NrtError> {
        let loaded = Loaded::open(path)?;
        // Held across `nrt_init`, so that nobody starts a library that is just starting. No lock of a
        // device exists yet.
        let mut started = STARTED.lock();
        if let Some(known) = started.iter().find(|known| known.loaded.identity() == loaded.identity()) {
            drop(known.enter()?);
            return Ok(Arc::clone(known));
        }
        init(&loaded, options)?;
        let process = Arc::new(Self {
            loaded,
            counters: Counters::default(),
            started_in: std::process::id(),
            closes_at_exit: options.closes_at_exit,
            gate: Gate::default(),
        });
        started.push(Arc::clone(&process));
        drop(started);
        if options.closes_at_exit {
            register_exit_handler();
        }
        tracing::debug!(path = %path.display(), version = %process.loaded.version, "libnrt started");
        Ok(process)
    }

    /// Says that a call begins, unless the runtime is closed or the caller a fork.
    ///
    /// A call may call back and enter again.
    pub(crate) fn enter(&self) -> Result<Entered<'_>, NrtError> {
        let called_from = std::process::id();
        if called_from != self.started_in {
            return Err(NrtError::Forked { started_in: self.started_in, called_from });
        }
        let inside = self.gate.enter().ok_or(NrtError::Closed)?;
        Ok(Entered { _inside: inside })
    }

    /// Closes the runtime once, when the calls that are running have returned; false when that was
    /// done before, or by a fork.
    pub(crate) fn close(&self) -> bool {
        if std::process::id() != self.started_in || !self.gate.close() {
            return false;
        }
        self.gate.wait_until_empty();
        close(&self.loaded);
        true
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process")
            .field("path", &self.loaded.path)
            .field("version", &self.loaded.version)
            .field("started_in", &self.started_in)
            .finish_non_exhaustive()
    }
}

#[expect(unsafe_code, reason = "a call of the library")]
fn init(loaded: &Loaded, options: &StartOptions) -> Result<(), NrtError> {
    let version = options.framework_version.as_ptr();
    // SAFETY: both texts end in NUL and outlive the call; the library was not started before, since the
    // caller holds the list of those that were.
    let status = unsafe { (loaded.api.init)(options.framework.code(), version, c"".as_ptr()) };
    match NrtStatus::from_code(status) {
        NrtStatus::Success => Ok(()),
        status => Err(NrtError::InitFailed { status }),
    }
}

#[expect(unsafe_code, reason = "a call of the library")]
fn close(loaded: &Loaded) {
    // SAFETY: the library was started, and is closed once: the caller has just closed the gate and found
    // nobody inside, so that no other call is running or will be made.
    unsafe { (loaded.api.close)() }
}

fn register_exit_handler() {
    if HAS_EXIT_HANDLER.swap(true, Ordering::SeqCst) {
        return;
    }
    if !at_exit(close_all) {
        tracing::warn!("no exit handler can be registered: libnrt will not be closed at exit");
    }
}

#[expect(unsafe_code, reason = "a call of the C library")]
fn at_exit(handler: extern "C" fn()) -> bool {
    unsafe extern "C" {
        fn atexit(handler: extern "C" fn()) -> std::ffi::c_int;
    }
    // SAFETY: the handler takes nothing, returns nothing and does not unwind; it and the statics it reads
    // live as long as the object that they are in, whose unloading runs the handler.
    unsafe { atexit(handler) == 0 }
}

/// Closes whatever is open. A runtime with a call in it stays open: the process ends all the same, and
/// waiting for another thread at exit could take for ever.
extern "C" fn close_all() {
    let Some(started) = STARTED.try_lock() else { return };
    let own = std::process::id();
    for process in started.iter().filter(|process| process.closes_at_exit && process.started_in == own) {
        if process.gate.close() && process.gate.is_empty() {
            close(&process.loaded);
        }
    }
}
