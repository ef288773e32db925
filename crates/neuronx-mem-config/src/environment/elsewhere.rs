//! Names outside the registry that are no typing errors.
//!
//! Knows which names other programs, or other builds of the same program, read, and which names
//! others have taken the place of. Refuses to know what they mean.

/// Starts of names that other programs read as families: one entry a subsystem or a buffer.
const FAMILIES: &[&str] = &["NEURON_RT_LOG_LEVEL_", "NEURON_RT_INSPECT_", "NEURON_CC_", "NEURONX_MEM_"];

/// Read by the runtime, its driver, the compiler or the tools around them.
pub(super) const TOOLS: &[&str] = &[
    "NEURON_CC_FLAGS",
    "NEURON_COMPILE_CACHE_URL",
    "NEURON_MAX_PROCESS_PER_DEVICE",
    "NEURON_PROCESS_TAG",
    "NEURON_RT_ALLOW_LEGACY_NEFF",
    "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS",
    "NEURON_RT_DISABLE_EXECUTION_BARRIER",
    "NEURON_RT_EXEC_TIMEOUT",
    "NEURON_RT_FAKE_INSTANCE_TYPE",
    "NEURON_RT_INSPECT_DEVICE_PROFILE",
    "NEURON_RT_INSPECT_ENABLE",
    "NEURON_RT_INSPECT_OUTPUT_DIR",
    "NEURON_RT_LOG_LEVEL",
    "NEURON_RT_LOG_LEVEL_NMGR",
    "NEURON_RT_LOG_LEVEL_NRT",
    "NEURON_RT_LOG_LEVEL_TDRV",
    "NEURON_RT_LOG_LOCATION",
    "NEURON_RT_LOW_LATENCY_TASKS_CPU_AFFINITY",
    "NEURON_RT_RESET_CORES",
    "NEURON_RT_ROOT_COMM_ID",
    "NEURON_RT_VALIDATE_HASH",
    "NKI_COMPILE_CACHE_URL",
];

/// Read by other builds of torch-neuronx than the one that the reference describes.
pub(super) const OTHER_BUILDS: &[&str] = &[
    "NEURON_COMPILATION_CACHE_MAX_ENTRIES",
    "NEURON_COMPILATION_CACHE_MAX_SIZE_MB",
    "NEURON_COMPILER_OPT_LEVEL",
    "NEURON_DUMP_EXECUTION_ON_ERROR",
    "NEURON_EAGER_MODEL_CACHE_SIZE",
    "NEURON_ENHANCED_ERROR_HANDLING",
    "NEURON_ERROR_DUMP_DIR",
    "NEURON_FALLBACK_ENABLED",
    "NEURON_MAX_RESOURCE_SLOTS",
    "TORCH_NEURONX_APPLY_SKIP_INTERMEDIATE",
    "TORCH_NEURONX_ATEN_GMM_ALIGN",
    "TORCH_NEURONX_CONCATENATION_BUFFER_SIZE_LIMIT",
    "TORCH_NEURONX_CONCATENATION_QUEUE_LOW_THRESHOLD",
    "TORCH_NEURONX_DYNAMO_BACKEND_ONLY",
    "TORCH_NEURONX_EMBEDDING_BWD_NKI_THRESHOLD",
    "TORCH_NEURONX_ENABLE_ASYNC_NRT",
    "TORCH_NEURONX_ENABLE_CONCATENATION",
    "TORCH_NEURONX_ENABLE_NKI_SDPA",
    "TORCH_NEURONX_ENABLE_PROLOGUE",
    "TORCH_NEURONX_ENABLE_STABLEHLO",
    "TORCH_NEURONX_LOG_FILE",
    "TORCH_NEURONX_MLIR_ATEN_OPS",
    "TORCH_NEURONX_RETAIN_DEVICE_MODE",
    "TORCH_NEURONX_SKIP_OP_PRECONDITIONS",
];

/// Names of older builds, and the name in the registry that has taken their place.
pub(super) const RENAMED: &[(&str, &str)] = &[
    ("NEURON_RT_ENABLE_HOST_CC", "TORCH_NEURONX_ENABLE_HOST_CC"),
    ("TORCH_NEURONX_DISABLE_NEFF_CACHE", "TORCH_NEURONX_NEFF_DISABLE_CACHE"),
    ("TORCH_NEURONX_METRICS_ENABLED", "TORCH_NEURONX_ENABLED_METRIC_TABLES"),
];

/// Returns the old name, as a constant, and the new one.
pub(super) fn renamed(name: &str) -> Option<(&'static str, &'static str)> {
    RENAMED.iter().copied().find(|(old, _)| *old == name)
}

/// Says whether others read this name.
pub(super) fn is_known_elsewhere(name: &str) -> bool {
    TOOLS.contains(&name)
        || OTHER_BUILDS.contains(&name)
        || FAMILIES.iter().any(|family| name.starts_with(family))
}
