//! Device memory.
//!
//! Knows the allocator's own variables; the keys of its configuration are
//! [`ConfigKey`](crate::ConfigKey).

use super::*;

variables! { Allocator;
    /// Keeps scalar constants on the device, so that each is copied there once.
    TORCH_NEURONX_ENABLE_SCALAR_CACHE: BOOL, ON, Reference, FACADE;

    /// The tuning keys of the caching allocator. They are read once, at the first use of the
    /// allocator, and each pool keeps them for its lifetime; the table of keys is below.
    TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG: Kind::AllocatorKeys, plain(""), Reference,
        &["neuronx-mem", "neuronx-mem-cli"];

    /// Lets an allocation that failed release cached free segments and try once more. Off, only the
    /// wait for work that is pending on the same stream remains.
    NEURON_OOM_RECOVERY_ENABLED: BOOL, ON, Guidelines, FACADE;
}
