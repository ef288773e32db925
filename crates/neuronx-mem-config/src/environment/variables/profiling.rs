//! The default profiling session.
//!
//! Knows the options of the session that starts for `ProfilerActivity.PrivateUse1` without a
//! `NeuronConfig`. With such an object, or without the profiler, none of them counts.

use super::*;

/// The modes of the environment variables reference.
const MODES: &[&str] = &["runtime", "cpu_util", "host_memory", "device"];

variables! { Profiling;
    /// Starts a session by default. Off, the activity alone records nothing of the device.
    TORCH_NEURONX_PROFILE_DEFAULT_SESSION: BOOL, ON, Reference, RECORDED;

    /// What the session records. `device` sets device memory aside for hardware notifications and
    /// needs the NEFF files of the persistent cache.
    TORCH_NEURONX_PROFILE_MODES: Kind::List(Items::Words(MODES)), plain("runtime,cpu_util,host_memory"),
        Reference, RECORDED;

    /// The global ranks that record.
    TORCH_NEURONX_PROFILE_RANKS: Kind::List(Items::Numbers(u32::MAX)), plain("0"), Reference, RECORDED;

    /// The most trace events that are kept for one NeuronCore.
    TORCH_NEURONX_PROFILE_MAX_EVENTS_PER_NC: Kind::Int(IntRange::between(1, u64::MAX)), plain("10000000"),
        Reference, RECORDED;

    /// The NeuronCores that are recorded.
    TORCH_NEURONX_PROFILE_CAPTURE_NC: Kind::List(Items::Ranges(MAX_CORE_INDEX)), plain("0,1"), Reference,
        RECORDED;

    /// Directory of the session's files; the device mode copies its NEFF files to `neffs` in it.
    TORCH_NEURONX_PROFILE_OUTPUT_DIR: Kind::Path, plain("neuron_profile"), Reference, RECORDED;

    /// The global rank of this process, which the launcher sets; without it the process is rank 0 here.
    RANK: Kind::Int(IntRange::between(0, u32::MAX as u64)), DefaultValue::NotStated, ReferenceText, RECORDED;
}
