//! A runtime over libnrt: its devices, and the questions about them. Segments, tensors and transfers
//! are next door.

mod allocate;
mod device_runtime;
mod table;
mod tensors;
mod transfer;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use neuronx_mem_runtime::{DeviceId, MemoryInfo};
use parking_lot::Mutex;

use crate::calls::CallError;
use crate::exhausted::Hooks;
use crate::ffi::RawMemoryStats;
use crate::process::Process;
use crate::{
    CallCounters, Garbage, InstanceFamily, LogicalCores, NrtError, NrtRuntimeBuilder, NrtStatus, NrtVersion,
    Symbol,
};
use table::Table;

/// TorchNeuron knows devices 0 to 127.
const MOST_DEVICES: u32 = 128;

/// libnrt as a [`DeviceRuntime`](neuronx_mem_runtime::DeviceRuntime).
///
/// Usable from any thread. Dropping it frees all its segments; the library stays loaded and started,
/// since it can be started once only.
#[derive(Debug)]
pub struct NrtRuntime {
    process: Arc<Process>,
    devices: Vec<Mutex<Table>>,
    cores: LogicalCores,
    has_eager_slices: bool,
    hooks: Hooks,
    n_exhausted: AtomicU64,
}

impl NrtRuntime {
    /// Starts the settings of a runtime.
    pub fn builder() -> NrtRuntimeBuilder {
        NrtRuntimeBuilder::new()
    }

    pub(crate) fn new(
        process: Arc<Process>,
        lnc: Option<u32>,
        has_eager_slices: bool,
        hooks: Hooks,
    ) -> Result<Self, NrtError> {
        let failed = |symbol| move |error| call_error(symbol, DeviceId(0), 0, error);
        let n_devices = process.visible_count().map_err(failed(Symbol::VisibleVncCount))?;
        if n_devices == 0 {
            return Err(NrtError::NoDevice);
        }
        if n_devices > MOST_DEVICES {
            return Err(NrtError::TooManyDevices { n_devices, most: MOST_DEVICES });
        }
        // A library that does not know its instance is no reason to stop: the rule then is "the total".
        let family = process.instance_family().ok().flatten();
        let family = family.map_or(InstanceFamily::Unknown, InstanceFamily::from_number);
        let cores = LogicalCores::in_force(family, lnc, |name| std::env::var_os(name));
        let devices = (0..n_devices).map(|_| Mutex::default()).collect();
        let n_exhausted = AtomicU64::new(0);
        Ok(Self { process, devices, cores, has_eager_slices, hooks, n_exhausted })
    }

    /// The library's version.
    #[must_use]
    pub fn version(&self) -> NrtVersion {
        self.process.loaded.version
    }

    /// The path that the library was opened by.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.process.loaded.path
    }

    /// Whether the library has a function.
    #[must_use]
    pub fn has(&self, symbol: Symbol) -> bool {
        self.process.loaded.found.contains(&symbol)
    }

    /// The instance's family, and how many physical cores form a logical one.
    #[must_use]
    pub fn logical_cores(&self) -> LogicalCores {
        self.cores
    }

    /// How often the library was called by this process.
    #[must_use]
    pub fn calls(&self) -> CallCounters {
        self.process.counters.read()
    }

    /// A status in the library's own words, else in this crate's.
    #[must_use]
    pub fn status_text(&self, status: NrtStatus) -> String {
        self.process.status_text(status).unwrap_or_else(|| status.text().to_owned())
    }

    /// Closes the runtime for the whole process and for good: `nrt_close`. Calls that are running are
    /// waited for, all memory goes back at once, and every later call fails with
    /// [`NrtError::Closed`]. False when it was closed before, or by a fork. Not to be called from a
    /// report hook.
    pub fn close(&self) -> bool {
        self.process.close()
    }

    /// Memory of a device. At LNC 1 on trn2 and trn3 the total is the whole HBM stack and the
    /// neighbour's share counts as in use, so that what is free is what this core can have.
    ///
    /// # Errors
    ///
    /// [`NrtError::Unsupported`] before runtime 2.27.23, [`NrtError::Call`],
    /// [`NrtError::UnknownDevice`].
    pub fn memory(&self, device: DeviceId) -> Result<MemoryInfo, NrtError> {
        self.table(device)?;
        let failed = |error| call_error(Symbol::VncMemoryStats, device, 0, error);
        let Some((stats, written)) = self.process.memory_stats(device.0).map_err(failed)? else {
            return Err(NrtError::Unsupported { symbol: Symbol::VncMemoryStats });
        };
        if written < size_of::<RawMemoryStats>() {
            let garbage = Garbage::ShortFigures { bytes: written };
            return Err(NrtError::Garbage { symbol: Symbol::VncMemoryStats, device, bytes: 0, garbage });
        }
        let (used_bytes, limit_bytes) = (stats.bytes_used as u64, stats.bytes_limit as u64);
        let neighbour_bytes = limit_bytes - self.cores.capacity_bytes(limit_bytes);
        Ok(MemoryInfo { used_bytes: used_bytes.saturating_add(neighbour_bytes), limit_bytes })
    }

    fn table(&self, device: DeviceId) -> Result<&Mutex<Table>, NrtError> {
        let n_devices = self.count();
        self.devices.get(device.0 as usize).ok_or(NrtError::UnknownDevice { device, n_devices })
    }

    /// At most 128.
    fn count(&self) -> u32 {
        u32::try_from(self.devices.len()).unwrap_or(MOST_DEVICES)
    }
}

/// The error of a call that was refused, failed, or returned nothing.
pub(crate) fn call_error(symbol: Symbol, device: DeviceId, bytes: u64, error: CallError) -> NrtError {
    match error {
        CallError::Refused(error) => error,
        CallError::Failed(status) => NrtError::Call { symbol, device, bytes, status },
        CallError::Null => NrtError::Garbage { symbol, device, bytes, garbage: Garbage::NullTensor },
    }
}
