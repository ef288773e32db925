//! Puts an allocator together. Reads the environment only when told to.

use std::fmt;
use std::sync::Arc;

use neuronx_mem_config::{Environment, RuntimeSwitches, Severity, variables};

use crate::device::{Clock, wall_clock};
use crate::{Allocator, AllocatorConfig, BuildError, Device, DeviceRuntime};

/// Settings of an [`Allocator`]; a runtime is the only one without a default.
#[derive(Clone)]
pub struct AllocatorBuilder {
    runtime: Option<Arc<dyn DeviceRuntime>>,
    config: AllocatorConfig,
    settings: Settings,
    clock: Clock,
    #[cfg(feature = "worker")]
    has_worker: bool,
}

/// The switches that a device needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Second recovery step on (`NEURON_OOM_RECOVERY_ENABLED`).
    pub(crate) is_recovery_enabled: bool,
    /// Streams other than the default one exist (`TORCH_NEURONX_ENABLE_STREAMS`).
    pub(crate) are_streams_enabled: bool,
    /// Work completes before its submission returns (`NEURON_LAUNCH_BLOCKING`).
    pub(crate) is_blocking: bool,
    /// Constants are kept (`TORCH_NEURONX_ENABLE_SCALAR_CACHE`).
    pub(crate) has_scalar_cache: bool,
    /// Watches uses of memory, with these limits.
    #[cfg(feature = "detector")]
    pub(crate) detector: Option<neuronx_mem_detector::DetectorOptions>,
}

impl Settings {
    /// Whether a detector watches.
    #[cfg(any(feature = "worker", feature = "detector"))]
    pub(crate) const fn is_watched(&self) -> bool {
        #[cfg(feature = "detector")]
        return self.detector.is_some();
        #[cfg(not(feature = "detector"))]
        false
    }
}

impl AllocatorBuilder {
    pub(crate) fn new() -> Self {
        let settings = Settings {
            is_recovery_enabled: true,
            are_streams_enabled: true,
            is_blocking: false,
            has_scalar_cache: true,
            #[cfg(feature = "detector")]
            detector: None,
        };
        Self {
            runtime: None,
            config: AllocatorConfig::default(),
            settings,
            clock: wall_clock(),
            #[cfg(feature = "worker")]
            has_worker: false,
        }
    }

    /// Takes device memory from this runtime.
    #[must_use]
    pub fn runtime(self, runtime: impl DeviceRuntime + 'static) -> Self {
        self.shared_runtime(Arc::new(runtime))
    }

    /// Takes device memory from a runtime that others use as well.
    #[must_use]
    pub fn shared_runtime(mut self, runtime: Arc<dyn DeviceRuntime>) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Places blocks by this configuration; the documented defaults unless set.
    #[must_use]
    pub fn config(mut self, config: AllocatorConfig) -> Self {
        self.config = config;
        self
    }

    /// Reads `TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG`; what is wrong with it becomes warnings.
    #[must_use]
    pub fn config_from_env(self) -> Self {
        self.config(AllocatorConfig::from_env().config)
    }

    /// Takes every setting that has a variable from an environment: the allocator keys,
    /// `NEURON_OOM_RECOVERY_ENABLED`, `TORCH_NEURONX_ENABLE_STREAMS`, `NEURON_LAUNCH_BLOCKING` and
    /// `TORCH_NEURONX_ENABLE_SCALAR_CACHE`. What is wrong with them becomes warnings.
    ///
    /// [`Environment::process`] is the environment as it was when first asked for.
    #[must_use]
    pub fn environment(self, environment: &Environment) -> Self {
        let (switches, findings) = RuntimeSwitches::from_environment(environment);
        for finding in findings.iter().filter(|finding| finding.severity() >= Severity::Warning) {
            tracing::warn!("{finding}");
        }
        let keys = environment.raw(variables::TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG);
        let parsed = AllocatorConfig::parse(&keys.unwrap_or_default().to_string_lossy());
        for finding in &parsed.findings {
            tracing::warn!("{finding}");
        }
        self.config(parsed.config)
            .oom_recovery(switches.oom_recovery)
            .streams(switches.streams)
            .launch_blocking(switches.launch_blocking)
            .scalar_cache(switches.scalar_cache)
    }

    /// Switches the second step of out-of-memory recovery, which releases cached segments
    /// (`NEURON_OOM_RECOVERY_ENABLED`); on unless set.
    #[must_use]
    pub fn oom_recovery(mut self, is_enabled: bool) -> Self {
        self.settings.is_recovery_enabled = is_enabled;
        self
    }

    /// Switches streams (`TORCH_NEURONX_ENABLE_STREAMS`); off, every stream is the default one.
    #[must_use]
    pub fn streams(mut self, are_enabled: bool) -> Self {
        self.settings.are_streams_enabled = are_enabled;
        self
    }

    /// Makes every submission complete before it returns (`NEURON_LAUNCH_BLOCKING`).
    #[must_use]
    pub fn launch_blocking(mut self, is_blocking: bool) -> Self {
        self.settings.is_blocking = is_blocking;
        self
    }

    /// Switches the scalar cache (`TORCH_NEURONX_ENABLE_SCALAR_CACHE`); on unless set.
    #[must_use]
    pub fn scalar_cache(mut self, is_enabled: bool) -> Self {
        self.settings.has_scalar_cache = is_enabled;
        self
    }

    /// Takes the time of history events from this clock, in microseconds; Unix time unless set.
    #[must_use]
    pub fn clock_us(mut self, clock: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Gives each device a thread that runs submitted work in stream order; none unless set.
    #[cfg(feature = "worker")]
    #[must_use]
    pub fn worker(mut self) -> Self {
        self.has_worker = true;
        self
    }

    /// Watches how memory is used and reports what is wrong: use after free, double free, streams that
    /// were never recorded. For debugging: each allocation and free costs microseconds and a call stack.
    #[cfg(feature = "detector")]
    #[must_use]
    pub fn detector(mut self, options: neuronx_mem_detector::DetectorOptions) -> Self {
        self.settings.detector = Some(options);
        self
    }

    /// Builds the allocator. No memory is taken before the first allocation. O(devices).
    ///
    /// # Errors
    ///
    /// [`BuildError::NoRuntime`], [`BuildError::NoDevice`].
    pub fn build(self) -> Result<Allocator, BuildError> {
        let runtime = self.runtime.ok_or(BuildError::NoRuntime)?;
        let ids = 0..runtime.n_devices();
        if ids.is_empty() {
            return Err(BuildError::NoDevice);
        }
        let device =
            |id| Device::new(id, Arc::clone(&runtime), &self.config, self.settings, Arc::clone(&self.clock));
        let devices: Vec<Device> = ids.map(device).collect();
        #[cfg(feature = "worker")]
        if self.has_worker {
            devices.iter().try_for_each(Device::start_worker).map_err(BuildError::Worker)?;
        }
        Ok(Allocator::from_parts(devices, self.config))
    }
}

impl fmt::Debug for AllocatorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AllocatorBuilder")
            .field("runtime", &self.runtime)
            .field("config", &self.config)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
