//! 64-bit integers and NUMA placement.
//!
//! Knows the variables that only the guidelines for memory management name.

use super::*;

const INT64_MODES: &[&str] = &["native", "packed", "native_strict", "cpu_bounce", "cpu_fallback"];

variables! { Host;
    /// How operations on `int64` run. `native`: on the device where supported, else packed, and matrix
    /// products on the CPU. `packed`: as two 32-bit words, of which arithmetic uses the low one.
    /// `native_strict`: on the device where supported, else on the CPU. `cpu_bounce`: cast to `int32`
    /// by way of the CPU. `cpu_fallback`: on the CPU.
    TORCH_NEURONX_INT64_MODE: Kind::Choice(INT64_MODES), plain("native"), Guidelines, INT64;

    /// Makes a value outside the range of `int32` an error where the packed view is used.
    TORCH_NEURONX_PACKED_INT64_CHECK_OVERFLOW: BOOL, OFF, Guidelines, INT64;

    /// Pins the threads of each rank to the NUMA node of its device when the process group is made. Off,
    /// `neuron-numa-launch` starts plain Python too.
    NEURON_NUMA_PIN: BOOL, ON, Guidelines, NUMA;
}
