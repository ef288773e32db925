//! The last error of a thread, and the guard around every function: errors become codes, panics too.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use neuronx_mem::AllocError;
use neuronx_mem::runtime::Status;
use neuronx_mem_nrt::{NrtError, NrtRuntime};

use crate::nxm_status;
use crate::out_of_memory::nxm_out_of_memory;
use crate::text::to_c;

/// Why a function failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: nxm_status,
    pub(crate) message: String,
    runtime_status: Option<u32>,
    report: Option<String>,
    out_of_memory: Option<Box<nxm_out_of_memory>>,
}

#[derive(Default)]
struct Last {
    message: Option<CString>,
    report: Option<CString>,
    runtime_status: Option<u32>,
    out_of_memory: Option<nxm_out_of_memory>,
}

thread_local! {
    static LAST: RefCell<Last> = const {
        RefCell::new(Last { message: None, report: None, runtime_status: None, out_of_memory: None })
    };
}

impl Failure {
    pub(crate) fn new(status: nxm_status, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), runtime_status: None, report: None, out_of_memory: None }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(nxm_status::NXM_INVALID_ARGUMENT, message)
    }

    fn of_panic(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_else(|| "without a message".to_owned());
        Self::new(nxm_status::NXM_INTERNAL, format!("panic: {text}"))
    }

    fn keep(self) -> nxm_status {
        let last = Last {
            message: Some(to_c(&self.message)),
            report: self.report.as_deref().map(to_c),
            runtime_status: self.runtime_status,
            out_of_memory: self.out_of_memory.map(|numbers| *numbers),
        };
        // A thread that is ending may have no place for it any more.
        let _ = LAST.try_with(|place| *place.borrow_mut() = last);
        self.status
    }
}

impl From<AllocError> for Failure {
    fn from(error: AllocError) -> Self {
        use nxm_status as code;
        let status = match &error {
            AllocError::OutOfMemory(_) => code::NXM_OUT_OF_MEMORY,
            AllocError::Runtime(_) => code::NXM_RUNTIME,
            AllocError::SizeOverflow { .. } => code::NXM_SIZE_OVERFLOW,
            AllocError::UnknownDevice { .. } => code::NXM_UNKNOWN_DEVICE,
            AllocError::Pool(_) => code::NXM_INVALID_BLOCK,
            AllocError::Stream(_) | AllocError::ForeignStream { .. } => code::NXM_UNKNOWN_STREAM,
            AllocError::NoWorker | AllocError::DrivenByWorker { .. } => code::NXM_UNSUPPORTED,
            AllocError::InvalidFraction { .. } => code::NXM_INVALID_ARGUMENT,
            #[cfg(feature = "worker")]
            AllocError::Worker(_) => code::NXM_WORK_FAILED,
            _ => code::NXM_INTERNAL,
        };
        let mut failure = Self::new(status, error.to_string());
        match &error {
            AllocError::OutOfMemory(oom) => {
                failure.report = Some(oom.report());
                failure.out_of_memory = Some(Box::new(nxm_out_of_memory::of(oom)));
                failure.runtime_status = Some(Status::RESOURCE.0);
            }
            AllocError::Runtime(error) => {
                failure.runtime_status = Some(error.status.0);
                if let Some(refusal) = NrtRuntime::take_last_refusal().filter(|r| r.status() == error.status)
                {
                    failure.message = format!("{error}: {refusal}");
                }
            }
            _ => {}
        }
        failure
    }
}

impl From<NrtError> for Failure {
    fn from(error: NrtError) -> Self {
        use nxm_status as code;
        let status = match &error {
            NrtError::LibraryNotFound { .. }
            | NrtError::MissingSymbol { .. }
            | NrtError::UnsupportedVersion { .. }
            | NrtError::InitFailed { .. }
            | NrtError::NoDevice
            | NrtError::TooManyDevices { .. } => code::NXM_LIBRARY,
            NrtError::UnknownDevice { .. } => code::NXM_UNKNOWN_DEVICE,
            NrtError::OutOfBounds { .. }
            | NrtError::OverlappingCopy { .. }
            | NrtError::DifferentHbm { .. } => code::NXM_INVALID_ARGUMENT,
            NrtError::Unsupported { .. } => code::NXM_UNSUPPORTED,
            error if error.is_out_of_memory() => code::NXM_OUT_OF_MEMORY,
            _ => code::NXM_RUNTIME,
        };
        let runtime_status = Some(error.status().0);
        Self { runtime_status, ..Self::new(status, error.to_string()) }
    }
}

/// Runs the body of a function of the ABI: no panic leaves it, and an error is kept for the thread.
pub(crate) fn guard(body: impl FnOnce() -> Result<(), Failure>) -> nxm_status {
    // What a panic leaves half done is behind locks that do not poison and behind checks that the
    // facade makes anew each time; the arguments are the caller's.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => nxm_status::NXM_OK,
        Ok(Err(failure)) => failure.keep(),
        Err(payload) => Failure::of_panic(&*payload).keep(),
    }
}

/// What went wrong in the last function that failed on this thread, one line; empty if none has. Valid
/// until the next failure on this thread or nxm_clear_last_error().
#[unsafe(no_mangle)]
pub extern "C" fn nxm_last_error_message() -> *const c_char {
    let read = LAST.try_with(|last| last.borrow().message.as_ref().map(|text| text.as_ptr()));
    read.ok().flatten().unwrap_or(c"".as_ptr())
}

/// The report of the last failure if that was NXM_OUT_OF_MEMORY: every number, what was tried and what
/// would help, several lines. Empty otherwise. Valid as nxm_last_error_message().
#[unsafe(no_mangle)]
pub extern "C" fn nxm_last_error_report() -> *const c_char {
    let read = LAST.try_with(|last| last.borrow().report.as_ref().map(|text| text.as_ptr()));
    read.ok().flatten().unwrap_or(c"".as_ptr())
}

/// The NRT_STATUS of the last failure on this thread, -1 where there was none; NRT_RESOURCE (4) for
/// NXM_OUT_OF_MEMORY.
#[unsafe(no_mangle)]
pub extern "C" fn nxm_last_error_runtime_status() -> i32 {
    let read = LAST.try_with(|last| last.borrow().runtime_status);
    read.ok().flatten().and_then(|status| i32::try_from(status).ok()).unwrap_or(-1)
}

/// The numbers of the last failure on this thread, if that was [`nxm_status::NXM_OUT_OF_MEMORY`].
pub(crate) fn last_out_of_memory() -> Option<nxm_out_of_memory> {
    LAST.try_with(|last| last.borrow().out_of_memory).ok().flatten()
}

/// Forgets the last error of this thread, and gives its memory back.
#[unsafe(no_mangle)]
pub extern "C" fn nxm_clear_last_error() {
    let _ = LAST.try_with(|last| *last.borrow_mut() = Last::default());
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::{Failure, guard, nxm_clear_last_error, nxm_last_error_message};
    use crate::nxm_status;

    fn message() -> String {
        // SAFETY: a text of this thread, valid until the next failure.
        unsafe { CStr::from_ptr(nxm_last_error_message()) }.to_string_lossy().into_owned()
    }

    #[test]
    fn a_panic_becomes_a_code_and_a_text() {
        assert_eq!(guard(|| panic!("no {}", 7)), nxm_status::NXM_INTERNAL);
        assert_eq!(message(), "panic: no 7");
        assert_eq!(guard(|| std::panic::panic_any(7_u8)), nxm_status::NXM_INTERNAL);
        assert_eq!(message(), "panic: without a message");
        // Success leaves the last error alone.
        assert_eq!(guard(|| Ok(())), nxm_status::NXM_OK);
        assert_eq!(message(), "panic: without a message");
        nxm_clear_last_error();
        assert_eq!(message(), "");
    }

    #[test]
    fn errors_belong_to_their_thread_and_survive_a_nul() {
        assert_eq!(guard(|| Err(Failure::invalid("a\0b"))), nxm_status::NXM_INVALID_ARGUMENT);
        assert_eq!(message(), "a b");
        assert_eq!(std::thread::spawn(message).join().unwrap(), "");
    }
}
