//! Eager execution.
//!
//! Knows the switches of code that is not compiled.

use super::*;

variables! { General;
    /// Makes each operation finish before its submission returns, for debugging.
    NEURON_LAUNCH_BLOCKING: BOOL, OFF, Reference, FACADE;

    /// Falls back to the CPU only where an operation is missing, not where it failed.
    TORCH_NEURONX_FALLBACK_ONLY_FOR_UNIMPLEMENTED_OPS: BOOL, OFF, Reference, RECORDED;

    /// Keeps the Python stack of each operation, which costs time.
    TORCH_NEURONX_ENABLE_STACK_TRACE: BOOL, OFF, Reference, RECORDED;

    /// How much is logged: 0 errors, 1 warnings, 2 information, 3 debugging.
    TORCH_NEURONX_LOG_LEVEL: Kind::Int(IntRange::between(0, 3)), plain("1"), Reference,
        &["neuronx-mem-cli"];

    /// Takes host memory that the driver has pinned; experimental. `neuronx_mem::host::pinned_staging` gives
    /// memory that is locked, as far as the system allows, and registered with no driver.
    TORCH_NEURONX_USE_PINNED_MALLOC: BOOL, OFF, Reference, FACADE;
}
