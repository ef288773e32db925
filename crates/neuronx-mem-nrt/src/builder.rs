//! Settings of a runtime over libnrt. Reads the environment for what is not set; opens nothing
//! before `open`.

use std::ffi::{CString, OsString};
use std::path::PathBuf;
use std::sync::Arc;

use crate::exhausted::{DeviceExhausted, Hooks};
use crate::process::{Process, StartOptions};
use crate::{NrtError, NrtRuntime};

/// Names the library to open where the program does not. Not a variable of AWS.
pub const LIBRARY_VARIABLE: &str = "NEURONX_MEM_LIBNRT";

/// The package that brings libnrt.
pub const RUNTIME_PACKAGE: &str = "aws-neuronx-runtime-lib";

/// The name that every libnrt answers to (its SONAME).
const LIBRARY_NAME: &str = "libnrt.so.1";

/// Where the package puts it: often no folder that the system searches.
const INSTALLED: &str = "/opt/aws/neuron/lib/libnrt.so.1";

/// What `nrt_init` is told of the program (`nrt_framework_type_t`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framework {
    /// No framework.
    #[default]
    None,
    /// PyTorch.
    PyTorch,
}

impl Framework {
    pub(crate) const fn code(self) -> i32 {
        match self {
            Self::None => 1,
            Self::PyTorch => 3,
        }
    }
}

/// Settings of an [`NrtRuntime`]; every one has a default.
#[derive(Clone, Debug)]
#[must_use = "nothing is opened before `open`"]
pub struct NrtRuntimeBuilder {
    path: Option<PathBuf>,
    framework: Framework,
    framework_version: String,
    lnc: Option<u32>,
    has_eager_slices: bool,
    closes_at_exit: bool,
    hooks: Hooks,
}

impl NrtRuntimeBuilder {
    pub(crate) fn new() -> Self {
        Self {
            path: None,
            framework: Framework::None,
            framework_version: String::new(),
            lnc: None,
            has_eager_slices: false,
            closes_at_exit: true,
            hooks: Hooks::default(),
        }
    }

    /// Opens this library. Unset: the one that `NEURONX_MEM_LIBNRT` names, else `libnrt.so.1` wherever
    /// the system finds it, else the place of the package, below `/opt/aws/neuron/lib`.
    pub fn path(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Tells libnrt which framework it serves, and its version. A version with a NUL in it is left
    /// out.
    pub fn framework(mut self, framework: Framework, version: &str) -> Self {
        self.framework = framework;
        version.clone_into(&mut self.framework_version);
        self
    }

    /// Sets how many physical cores form a logical one. Unset: `NEURON_LOGICAL_NC_CONFIG`, then
    /// `NEURON_RT_VIRTUAL_CORE_SIZE`, then the default of the instance. Only the memory rule follows
    /// it: libnrt itself reads the variables.
    pub fn lnc(mut self, lnc: u32) -> Self {
        self.lnc = Some(lnc);
        self
    }

    /// Makes slices at once instead of when their tensor is asked for; for tests and measurements.
    pub fn eager_slices(mut self, is_eager: bool) -> Self {
        self.has_eager_slices = is_eager;
        self
    }

    /// Whether `nrt_close` is called when the process ends; it is unless set. Of several openings of
    /// one library the first decides.
    pub fn close_at_exit(mut self, closes: bool) -> Self {
        self.closes_at_exit = closes;
        self
    }

    /// Calls `report` each time libnrt has no device memory left: on the thread that allocates, with
    /// no lock held. It may read statistics, and must not allocate from this runtime.
    pub fn on_out_of_memory(mut self, report: impl Fn(&DeviceExhausted) + Send + Sync + 'static) -> Self {
        self.hooks.own = Some(Arc::new(report));
        self
    }

    /// Lets libnrt write its own report (`nrt_debug_log_oom_report`, runtime 2.33 and later) when it
    /// has no device memory left, where it has that function. Off unless called. The variable
    /// `NEURON_RT_ENABLE_DEVICE_MEMORY_OOM_LOG` does the same without this crate.
    ///
    /// # Safety
    ///
    /// The function is in no public header: the caller vouches that in the library that will be
    /// opened it takes no argument.
    #[expect(unsafe_code, reason = "only the caller can know the function's signature")]
    pub unsafe fn call_runtime_report(mut self) -> Self {
        self.hooks.calls_runtime_report = true;
        self
    }

    /// Opens the library, starts the runtime unless this process has done so, and counts its devices.
    ///
    /// A library that was opened before in this process is shared, not started again. `nrt_init` may
    /// take seconds.
    ///
    /// # Errors
    ///
    /// [`NrtError`]: the library cannot be opened, is not the right one, or does not start. It is
    /// unloaded then, unless it was started before.
    pub fn open(self) -> Result<NrtRuntime, NrtError> {
        let options = StartOptions {
            framework: self.framework,
            framework_version: CString::new(self.framework_version).unwrap_or_default(),
            closes_at_exit: self.closes_at_exit,
        };
        let variable = |name: &str| std::env::var_os(name).filter(|text: &OsString| !text.is_empty());
        let process = match self.path.or_else(|| variable(LIBRARY_VARIABLE).map(PathBuf::from)) {
            Some(path) => Process::start(&path, &options)?,
            None => start_default(&options)?,
        };
        NrtRuntime::new(process, self.lnc, self.has_eager_slices, self.hooks)
    }
}

/// The library that the system finds, else the package's. The first failure is the one that counts.
fn start_default(options: &StartOptions) -> Result<Arc<Process>, NrtError> {
    Process::start(LIBRARY_NAME.as_ref(), options).or_else(|error| match error {
        NrtError::LibraryNotFound { .. } if PathBuf::from(INSTALLED).exists() => {
            Process::start(INSTALLED.as_ref(), options)
        }
        other => Err(other),
    })
}
