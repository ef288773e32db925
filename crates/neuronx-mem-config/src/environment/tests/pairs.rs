//! Variables that do not go together.

use super::{environment, lines};
use crate::{Environment, PairRule, lint};

/// The names of the violated rules.
fn violated(texts: &[&str]) -> Vec<&'static str> {
    let environment = environment(texts);
    PairRule::ALL.into_iter().filter(|rule| rule.is_violated(&environment)).map(PairRule::name).collect()
}

#[track_caller]
fn check(texts: &[&str], expected: &[&str]) {
    assert_eq!(violated(texts), expected, "{texts:?}");
}

#[test]
fn defaults_go_together() {
    check(&[], &[]);
    assert_eq!(lint(&Environment::default()), []);
}

#[test]
fn streams() {
    check(&["TORCH_NEURONX_ENABLE_HOST_CC=1"], &[]);
    check(
        &["TORCH_NEURONX_ENABLE_HOST_CC=1", "TORCH_NEURONX_ENABLE_STREAMS=0"],
        &["host_collectives_without_streams"],
    );
    // A text that is not accepted leaves streams on.
    check(&["TORCH_NEURONX_ENABLE_HOST_CC=1", "TORCH_NEURONX_ENABLE_STREAMS=off"], &[]);
    check(
        &["TORCH_NEURONX_ENABLE_HOST_CC=yes", "NEURON_LAUNCH_BLOCKING=1"],
        &["host_collectives_with_blocking"],
    );
}

#[test]
fn caches() {
    let off = "TORCH_NEURONX_NEFF_DISABLE_CACHE=1";
    check(&[off], &[]);
    check(&[off, "TORCH_NEURONX_NEFF_CACHE_DIR=/fsx"], &["neff_directory_without_cache"]);
    check(&[off, "TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT=9"], &["lock_timeout_without_cache"]);
    check(&[off, "TORCH_NEURONX_NEFF_KEY_FROM_HLO=0"], &["key_without_cache"]);
    check(&[off, "TORCH_NEURONX_NEFF_CACHE_DIR="], &[]);
    check(
        &["TORCH_NEURONX_HLO_CACHE=0", "TORCH_NEURONX_HLO_CACHE_DIR=/fsx"],
        &["hlo_directory_without_cache"],
    );
    check(&["NKI_ENABLE_TRACE_CACHE=0", "NKI_TRACE_CACHE_URL=/fsx"], &["nki_place_without_cache"]);
}

#[test]
fn locks_stay_out_of_the_shared_directory() {
    let shared = "TORCH_NEURONX_NEFF_CACHE_DIR=/fsx/neff";
    check(&[shared, "TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR=/fsx/neff/"], &["locks_in_shared_directory"]);
    check(&[shared, "TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR=/fsx/neff/locks"], &["locks_in_shared_directory"]);
    check(&[shared, "TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR=/fsx/neff_locks"], &[]);
    check(&["TORCH_NEURONX_NEFF_CACHE_DIR=/tmp"], &["locks_in_shared_directory"]);
}

#[test]
fn profiling() {
    let off = "TORCH_NEURONX_PROFILE_DEFAULT_SESSION=0";
    check(&[off], &[]);
    check(&[off, "TORCH_NEURONX_PROFILE_MODES=device"], &["modes_without_session"]);
    check(&[off, "TORCH_NEURONX_PROFILE_RANKS=0,1", "RANK=7"], &["ranks_without_session"]);
    check(&[off, "TORCH_NEURONX_PROFILE_MAX_EVENTS_PER_NC=5"], &["events_without_session"]);
    check(&[off, "TORCH_NEURONX_PROFILE_CAPTURE_NC=5"], &["cores_without_session"]);
    check(&[off, "TORCH_NEURONX_PROFILE_OUTPUT_DIR=out"], &["output_without_session"]);
    check(
        &["TORCH_NEURONX_PROFILE_MODES=runtime,device", "TORCH_NEURONX_NEFF_DISABLE_CACHE=1"],
        &["device_profile_without_cache"],
    );
    check(&["TORCH_NEURONX_PROFILE_RANKS=0,8", "RANK=7"], &["rank_not_recorded"]);
    check(&["TORCH_NEURONX_PROFILE_RANKS=0,07", "RANK=7"], &[]);
    check(&["RANK=7"], &[]);
}

#[test]
fn others() {
    check(&["TORCH_NEURONX_METRICS_DIR=/m"], &["metrics_directory_without_tables"]);
    check(&["TORCH_NEURONX_METRICS_DIR=/m", "TORCH_NEURONX_ENABLED_METRIC_TABLES=oom"], &[]);
    let checked = "TORCH_NEURONX_PACKED_INT64_CHECK_OVERFLOW=1";
    for mode in ["native", "packed"] {
        check(&[checked, &format!("TORCH_NEURONX_INT64_MODE={mode}")], &[]);
    }
    for mode in ["native_strict", "cpu_bounce", "cpu_fallback"] {
        check(&[checked, &format!("TORCH_NEURONX_INT64_MODE={mode}")], &["overflow_check_without_packing"]);
    }
    check(&["NEURON_RT_VIRTUAL_CORE_SIZE=1"], &[]);
    check(&["NEURON_RT_VIRTUAL_CORE_SIZE=1", "NEURON_LOGICAL_NC_CONFIG=1"], &[]);
    check(&["NEURON_RT_VIRTUAL_CORE_SIZE=1", "NEURON_LOGICAL_NC_CONFIG=2"], &["logical_core_sizes"]);
    check(&["NEURON_RT_NUM_CORES=2", "NEURON_RT_VISIBLE_CORES=0-3"], &["core_count_beside_cores"]);
    let contiguous = "NEURON_RT_CONTIGUOUS_SCRATCHPAD=1";
    check(&[contiguous, "NEURON_LOGICAL_NC_CONFIG=1"], &["contiguous_scratchpad_on_small_cores"]);
    check(&[contiguous], &[]);
    check(&["TORCH_NEURONX_DYNAMO_TENSOR_DUMPS=1"], &["dumps_without_keeping"]);
    check(&["TORCH_NEURONX_COMPILE_ONLY=1"], &["compile_only_without_platform"]);
    check(&["TORCH_NEURONX_COMPILE_ONLY=1", "NEURON_PLATFORM_TARGET_OVERRIDE=trn2"], &[]);
}

#[test]
fn every_rule_is_named_once_and_reads_in_one_line() {
    let mut names: Vec<_> = PairRule::ALL.iter().map(|rule| rule.name()).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), PairRule::ALL.len());
    let texts: Vec<_> = PairRule::ALL.iter().map(|rule| format!("{} {rule}", rule.severity())).collect();
    insta::assert_snapshot!(texts.join("\n"), @"
    note TORCH_NEURONX_DYNAMO_TENSOR_DUMPS is on while TORCH_NEURONX_PRESERVE_COMPILATION_ARTIFACTS is off: the dumps may not outlive the run
    note TORCH_NEURONX_COMPILE_ONLY is on while NEURON_PLATFORM_TARGET_OVERRIDE is not set: a host without a device has no platform to ask for
    warning TORCH_NEURONX_NEFF_CACHE_DIR has no effect while TORCH_NEURONX_NEFF_DISABLE_CACHE is on
    note TORCH_NEURONX_HLO_CACHE_DIR is set while TORCH_NEURONX_HLO_CACHE is off: eager code does not use it
    warning TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR lies in TORCH_NEURONX_NEFF_CACHE_DIR, which may be shared: locks have to be on a local file system
    warning TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT has no effect while TORCH_NEURONX_NEFF_DISABLE_CACHE is on
    warning TORCH_NEURONX_NEFF_KEY_FROM_HLO has no effect while TORCH_NEURONX_NEFF_DISABLE_CACHE is on
    warning NKI_TRACE_CACHE_URL has no effect while NKI_ENABLE_TRACE_CACHE is off
    warning TORCH_NEURONX_METRICS_DIR has no effect while TORCH_NEURONX_ENABLED_METRIC_TABLES names no table
    warning TORCH_NEURONX_PROFILE_MODES has no effect while TORCH_NEURONX_PROFILE_DEFAULT_SESSION is off
    error TORCH_NEURONX_PROFILE_MODES has `device` while TORCH_NEURONX_NEFF_DISABLE_CACHE is on: the device profile has no NEFF files to copy
    warning TORCH_NEURONX_PROFILE_RANKS has no effect while TORCH_NEURONX_PROFILE_DEFAULT_SESSION is off
    warning TORCH_NEURONX_PROFILE_MAX_EVENTS_PER_NC has no effect while TORCH_NEURONX_PROFILE_DEFAULT_SESSION is off
    warning TORCH_NEURONX_PROFILE_CAPTURE_NC has no effect while TORCH_NEURONX_PROFILE_DEFAULT_SESSION is off
    warning TORCH_NEURONX_PROFILE_OUTPUT_DIR has no effect while TORCH_NEURONX_PROFILE_DEFAULT_SESSION is off
    note TORCH_NEURONX_PROFILE_RANKS does not have the rank of RANK, so this process records no profile
    error TORCH_NEURONX_ENABLE_HOST_CC is on while TORCH_NEURONX_ENABLE_STREAMS is off: collectives have no other stream to run on
    warning TORCH_NEURONX_ENABLE_HOST_CC is on while NEURON_LAUNCH_BLOCKING is on too: each submission waits, so nothing overlaps
    error TORCH_NEURONX_PACKED_INT64_CHECK_OVERFLOW is on while TORCH_NEURONX_INT64_MODE is neither native nor packed: nothing is packed, so nothing is checked
    warning NEURON_RT_VIRTUAL_CORE_SIZE disagrees with NEURON_LOGICAL_NC_CONFIG, which wins
    warning NEURON_RT_NUM_CORES has no effect beside NEURON_RT_VISIBLE_CORES, which wins
    warning NEURON_RT_CONTIGUOUS_SCRATCHPAD has no effect while NEURON_LOGICAL_NC_CONFIG is 1
    ");
}

#[test]
fn lint_reports_names_then_values_then_pairs() {
    let findings = lint(&environment(&[
        "TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG=kPoolBoundary=1MB,kMaxSplitSizeBytes=1",
        "TORCH_NEURONX_ENABLE_STREAMS=0",
        "TORCH_NEURONX_ENABLE_HOST_CC=1",
        "TORCH_NEURONX_LOG_LEVEL=loud",
        "TORCH_NEURONX_NEFF_CACHE_DIRECTORY=/fsx",
        "NEURON_USE_SPLIT_ALLGATHER=true",
        "NEURON_NUMA_PIN=",
    ]));
    insta::assert_snapshot!(lines(&findings), @"
    warning unknown_name -: unknown variable `TORCH_NEURONX_NEFF_CACHE_DIRECTORY`; did you mean `TORCH_NEURONX_NEFF_CACHE_DIR`?
    error bad_value TORCH_NEURONX_LOG_LEVEL: TORCH_NEURONX_LOG_LEVEL: `loud` is not a whole number in decimal digits; the default 1 holds
    warning disables NEURON_USE_SPLIT_ALLGATHER: NEURON_USE_SPLIT_ALLGATHER: `true` switches it off, because only 1 switches it on
    error size_suffix TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG: TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG: kPoolBoundary: `1MB` is ignored because sizes are plain bytes without a suffix; 1048576 was probably meant
    warning dangerous_combination TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG: TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG: kMaxSplitSizeBytes (1) is below kMediumSegmentSize (67108864): free blocks of a medium segment above it serve only requests of almost their size
    note empty NEURON_NUMA_PIN: NEURON_NUMA_PIN is empty, which counts as unset
    error host_collectives_without_streams TORCH_NEURONX_ENABLE_HOST_CC: TORCH_NEURONX_ENABLE_HOST_CC is on while TORCH_NEURONX_ENABLE_STREAMS is off: collectives have no other stream to run on
    ");
}
