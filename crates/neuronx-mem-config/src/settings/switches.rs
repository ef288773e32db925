//! The switches of the allocator and the runtime around it.
//!
//! Knows what each switch means while another one contradicts it.

use super::collect::Collector;
use crate::{EnvFinding, Environment, variables};

/// The switches that change how memory is allocated and work is submitted.
///
/// ```
/// use neuronx_mem_config::{Environment, RuntimeSwitches};
///
/// let pairs = [("TORCH_NEURONX_ENABLE_HOST_CC", "1"), ("TORCH_NEURONX_ENABLE_STREAMS", "0")];
/// let (switches, findings) = RuntimeSwitches::from_environment(&Environment::from_pairs(pairs));
/// assert!(!switches.host_collectives); // there is no other stream to run on
/// assert_eq!(findings.len(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuntimeSwitches {
    /// Whether a failed allocation releases cached free segments and tries again.
    pub oom_recovery: bool,
    /// Whether each operation finishes before its submission returns.
    pub launch_blocking: bool,
    /// Whether there are streams other than the default one.
    pub streams: bool,
    /// Whether collectives run on other streams; never while there are none.
    pub host_collectives: bool,
    /// Whether scalar constants stay on the device.
    pub scalar_cache: bool,
    /// Whether the Python stack of each operation is kept.
    pub stack_trace: bool,
    /// Whether host memory is pinned by the driver.
    pub pinned_malloc: bool,
}

impl RuntimeSwitches {
    /// Reads the switches, beside what is wrong with them.
    pub fn from_environment(environment: &Environment) -> (Self, Vec<EnvFinding>) {
        let mut collector = Collector::new(environment);
        let streams = collector.bool(variables::TORCH_NEURONX_ENABLE_STREAMS);
        let switches = Self {
            oom_recovery: collector.bool(variables::NEURON_OOM_RECOVERY_ENABLED),
            launch_blocking: collector.bool(variables::NEURON_LAUNCH_BLOCKING),
            streams,
            host_collectives: collector.bool(variables::TORCH_NEURONX_ENABLE_HOST_CC) && streams,
            scalar_cache: collector.bool(variables::TORCH_NEURONX_ENABLE_SCALAR_CACHE),
            stack_trace: collector.bool(variables::TORCH_NEURONX_ENABLE_STACK_TRACE),
            pinned_malloc: collector.bool(variables::TORCH_NEURONX_USE_PINNED_MALLOC),
        };
        (switches, collector.finish())
    }
}
