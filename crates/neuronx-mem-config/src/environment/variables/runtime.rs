//! The Neuron runtime.
//!
//! Knows the variables of the runtime that decide how much device memory there is and who takes it.
//! The runtime obeys them; here they are recorded, and explained when memory is short. Which device a
//! rank is on depends on how many physical cores make a logical one.

use super::*;

/// Which bounds of a profiler buffer are sensible is not stated: up to a terabyte.
const BUFFER: Kind = Kind::Int(IntRange::between(0, 1 << 20));
const CORE_COUNT: IntRange = IntRange::between(0, MAX_CORE_INDEX as u64 + 1);
const CORES_PER_LOGICAL: Kind = Kind::Int(IntRange::between(1, 2));
const LOGICAL_DEFAULT: DefaultValue = depends(Dependence::Architecture, "2", "2 from trn2 on, 1 before");
const BUFFER_DEFAULT: DefaultValue = DefaultValue::NotStated;

variables! { Runtime;
    /// Physical NeuronCores in one logical core. At 1, two logical cores share one memory stack.
    NEURON_LOGICAL_NC_CONFIG: CORES_PER_LOGICAL, LOGICAL_DEFAULT, Runtime, &["neuronx-mem-nrt", "neuronx-mem-numa"];

    /// An older name of `NEURON_LOGICAL_NC_CONFIG`, looked at only while that one is not set.
    NEURON_RT_VIRTUAL_CORE_SIZE: CORES_PER_LOGICAL, LOGICAL_DEFAULT, Runtime, &["neuronx-mem-nrt", "neuronx-mem-numa"];

    /// The logical cores that the process takes. Launchers set it for each rank.
    NEURON_RT_VISIBLE_CORES: Kind::List(Items::Ranges(MAX_CORE_INDEX)), DefaultValue::NotStated, Runtime,
        RECORDED;

    /// How many logical cores the process takes, 0 for all; `NEURON_RT_VISIBLE_CORES` wins over it.
    NEURON_RT_NUM_CORES: Kind::Int(CORE_COUNT), plain("0"), Runtime, RECORDED;

    /// Keeps one copy of the weights for several instances of a model.
    NEURON_RT_MULTI_INSTANCE_SHARED_WEIGHTS: BOOL, DefaultValue::NotStated, Runtime, RECORDED;

    /// Makes the runtime log who holds device memory when an allocation fails; runtime 2.33 or later.
    NEURON_RT_ENABLE_DEVICE_MEMORY_OOM_LOG: BOOL, DefaultValue::NotStated, Runtime, RECORDED;

    /// Keeps the shared scratchpad contiguous, in pages of 64 MB that can fail to be found in
    /// fragmented memory. Logical cores that are one physical core have none.
    NEURON_RT_CONTIGUOUS_SCRATCHPAD: BOOL, ON, Runtime, RECORDED;

    /// Page size of the scratchpad, in MB.
    NEURON_SCRATCHPAD_PAGE_SIZE: Kind::Int(IntRange::multiples(512, 512, 3584)), plain("512"), Runtime,
        RECORDED;

    /// Puts the scratchpad on one core, for debugging.
    NEURON_RT_DBG_SCRATCHPAD_ON_SINGLE_CORE: BOOL, DefaultValue::NotStated, Runtime, RECORDED;

    /// Maps device memory into the process.
    NEURON_RT_MAP_HBM: BOOL, DefaultValue::NotStated, Runtime, RECORDED;

    /// Moves host data without a staging copy, for debugging; recent runtimes do so anyway.
    NEURON_RT_DBG_ZEROCOPY: BOOL, DefaultValue::NotStated, Runtime, RECORDED;

    /// Makes the runtime keep its memory metrics.
    NEURON_RT_ENABLE_MEMORY_METRICS: BOOL, DefaultValue::NotStated, Runtime, RECORDED;

    /// Device memory for the profiler's events, in MB; each profiler buffer is 64 to 128 MB by itself.
    NEURON_RT_PROFILE_BUF_EVENT_MB: BUFFER, BUFFER_DEFAULT, Runtime, RECORDED;

    /// Device memory for the profiler's DMA records, in MB.
    NEURON_RT_PROFILE_BUF_DMA_MB: BUFFER, BUFFER_DEFAULT, Runtime, RECORDED;

    /// Device memory for the profiler's throttling records, in MB.
    NEURON_RT_PROFILE_BUF_THROTTLE_MB: BUFFER, BUFFER_DEFAULT, Runtime, RECORDED;

    /// Device memory for the instructions of collective cores in a profile, in MB.
    NEURON_RT_PROFILE_BUF_CC_CORE_INSTRUCTION_MB: BUFFER, BUFFER_DEFAULT, Runtime, RECORDED;

    /// Device memory for the events of collective cores in a profile, in MB.
    NEURON_RT_PROFILE_BUF_CC_CORE_EVENT_MB: BUFFER, BUFFER_DEFAULT, Runtime, RECORDED;
}
