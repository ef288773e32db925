//! What a program is told when libnrt has no device memory left. Decides nothing: recovery is the
//! allocator's.

use std::fmt;
use std::sync::Arc;

use neuronx_mem_runtime::{DeviceId, MemoryInfo};

/// An allocation that libnrt refused for want of device memory.
///
/// Each try of an allocator counts, so that one request may be reported up to three times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceExhausted {
    /// The device.
    pub device: DeviceId,
    /// Bytes asked for.
    pub bytes: u64,
    /// Memory in use and in all at that moment, where libnrt tells.
    pub memory: Option<MemoryInfo>,
    /// How many there were in this runtime so far, this one included.
    pub n_so_far: u64,
}

/// A program's own report.
pub(crate) type Hook = Arc<dyn Fn(&DeviceExhausted) + Send + Sync>;

/// What to do when memory runs out.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) own: Option<Hook>,
    /// Somebody has vouched for the signature of `nrt_debug_log_oom_report`.
    pub(crate) calls_runtime_report: bool,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("has_own", &self.own.is_some())
            .field("calls_runtime_report", &self.calls_runtime_report)
            .finish()
    }
}
