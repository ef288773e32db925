//! Host memory: the crate `neuronx-mem-host`, and what the environment says about pinning.

pub use neuronx_mem_host::*;

use crate::config::{Environment, RuntimeSwitches};

/// Makes the allocator for staging buffers that `TORCH_NEURONX_USE_PINNED_MALLOC` asks for; `None` while
/// that is off, as it is by default. Its memory is locked as far as the system allows, in huge pages where
/// these are granted, and on `node` where that has room. No driver is told of it: it is pinned for the
/// system, and a device may still copy it through buffers of its own. What is wrong with the variable is
/// for `neuronx_mem::config::lint` to say.
///
/// ```
/// use neuronx_mem::config::Environment;
/// use neuronx_mem::host::pinned_staging;
///
/// assert!(pinned_staging(&Environment::from_pairs([("HOME", "x")]), None)?.is_none());
/// let environment = Environment::from_pairs([("TORCH_NEURONX_USE_PINNED_MALLOC", "1")]);
/// let staging = pinned_staging(&environment, Some(0))?.expect("the switch is on");
/// let mut buffer = staging.allocate(1 << 20)?;
/// buffer.fill(1);
/// # Ok::<(), neuronx_mem::host::HostError>(())
/// ```
///
/// # Errors
///
/// None today; those of [`StagingAllocator::new`].
pub fn pinned_staging(
    environment: &Environment,
    node: Option<u32>,
) -> Result<Option<StagingAllocator<MappedPages>>, HostError> {
    let (switches, _) = RuntimeSwitches::from_environment(environment);
    if !switches.pinned_malloc {
        return Ok(None);
    }
    let mut options = MappedOptions::default().with_locking(Locking::IfAllowed);
    options.node = node;
    StagingAllocator::new(MappedPages::new(options), StagingOptions::default()).map(Some)
}
