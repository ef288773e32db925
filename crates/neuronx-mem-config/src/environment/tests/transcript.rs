//! The registry against a transcript of the pages: one row for each variable, in order.

use crate::{DefaultValue, Group, Page, Variable};

/// Name, type and default as the page writes them, and the type here, which may be narrower.
type Row = (&'static str, &'static str, &'static str, &'static str);

/// The tables of the environment variables reference.
const REFERENCE: &[(Group, &[Row])] = &[
    (
        Group::Backend,
        &[
            ("TORCH_NEURONX_DEBUG_DIR", "str", "/tmp/neuron_backend", "path"),
            ("TORCH_NEURONX_PRESERVE_COMPILATION_ARTIFACTS", "bool", "False", "bool"),
            ("TORCH_NEURONX_DISABLE_FALLBACK_EXECUTION", "bool", "True", "bool"),
            ("TORCH_NEURONX_COMPLEX_DECOMPOSE", "bool", "PyTorch >= 2.13: True; otherwise False", "bool"),
            ("TORCH_NEURONX_DYNAMO_DISABLE_CPU_AUTOCOPY", "bool", "False", "bool"),
            ("TORCH_NEURONX_COMPILE_ONLY", "bool", "False", "bool"),
            ("NEURON_PLATFORM_TARGET_OVERRIDE", "str", "(query live instance)", "str"),
        ],
    ),
    (
        Group::Cache,
        &[
            ("TORCH_NEURONX_NEFF_CACHE_DIR", "path", "/tmp/neff_cache", "path"),
            ("TORCH_NEURONX_HLO_CACHE_DIR", "path", "/tmp/hlo_cache", "path"),
            ("TORCH_NEURONX_HLO_CACHE", "bool", "True", "bool"),
            ("TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR", "path", "/tmp/local_cache", "path"),
            ("TORCH_NEURONX_NEFF_DISABLE_CACHE", "bool", "False", "bool"),
            ("TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT", "int", "1200", "int"),
            ("TORCH_NEURONX_NEFF_KEY_FROM_HLO", "bool", "True", "bool"),
            ("NKI_ENABLE_TRACE_CACHE", "bool", "True", "bool"),
            ("TORCH_CACHING_PRECOMPILE", "bool", "False", "bool"),
            ("TORCHINDUCTOR_CACHE_DIR", "path", "/tmp/torchinductor_<username>/", "path"),
        ],
    ),
    (
        Group::General,
        &[
            ("NEURON_LAUNCH_BLOCKING", "bool", "False", "bool"),
            ("TORCH_NEURONX_FALLBACK_ONLY_FOR_UNIMPLEMENTED_OPS", "bool", "False", "bool"),
            ("TORCH_NEURONX_ENABLE_STACK_TRACE", "bool", "False", "bool"),
            ("TORCH_NEURONX_LOG_LEVEL", "int", "1", "int"),
            ("TORCH_NEURONX_USE_PINNED_MALLOC", "bool", "False", "bool"),
        ],
    ),
    (
        Group::Metrics,
        &[
            ("TORCH_NEURONX_ENABLED_METRIC_TABLES", "str", "\"\"", "list"),
            ("TORCH_NEURONX_METRICS_DIR", "str", "/tmp", "path"),
        ],
    ),
    (
        Group::Profiling,
        &[
            ("TORCH_NEURONX_PROFILE_DEFAULT_SESSION", "bool", "1", "bool"),
            ("TORCH_NEURONX_PROFILE_MODES", "str", "runtime,cpu_util,host_memory", "list"),
            ("TORCH_NEURONX_PROFILE_RANKS", "str", "0", "list"),
            ("TORCH_NEURONX_PROFILE_MAX_EVENTS_PER_NC", "int", "10000000", "int"),
            ("TORCH_NEURONX_PROFILE_CAPTURE_NC", "str", "0,1", "list"),
            ("TORCH_NEURONX_PROFILE_OUTPUT_DIR", "path", "neuron_profile", "path"),
        ],
    ),
    (
        Group::Distributed,
        &[
            ("TORCH_NEURONX_ENABLE_STREAMS", "bool", "True", "bool"),
            ("TORCH_NEURONX_ENABLE_HOST_CC", "bool", "False", "bool"),
            ("NEURON_USE_SPLIT_ALLGATHER", "bool", "on (default stream)", "bool"),
            ("NEURON_USE_SPLIT_REDUCE_SCATTER", "bool", "on (default stream)", "bool"),
            ("NEURON_USE_NKI_ALLTOALLV", "bool", "True", "bool"),
            ("COLLECTIVE_BUCKETSIZE_IN_MB", "int", "512", "int"),
        ],
    ),
    (
        Group::Allocator,
        &[
            ("TORCH_NEURONX_ENABLE_SCALAR_CACHE", "bool", "True", "bool"),
            // Outside the table, with a format instead of a type; unset, no key is.
            ("TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG", "", "\"\"", "keys"),
        ],
    ),
];

/// What the text of the reference names in passing.
const REFERENCE_TEXT: &[(Group, Row)] = &[
    (Group::Backend, ("TORCH_NEURONX_DYNAMO_TENSOR_DUMPS", "", "False", "bool")),
    (Group::Cache, ("NKI_TRACE_CACHE_URL", "", "/var/tmp/nki-trace-cache-uid<uid>/", "str")),
    (Group::Profiling, ("RANK", "", "not stated", "int")),
];

/// What the guidelines for memory management add; they give no types.
const GUIDELINES: &[(Group, Row)] = &[
    (Group::Allocator, ("NEURON_OOM_RECOVERY_ENABLED", "", "True", "bool")),
    (Group::Host, ("TORCH_NEURONX_INT64_MODE", "", "native", "choice")),
    (Group::Host, ("TORCH_NEURONX_PACKED_INT64_CHECK_OVERFLOW", "", "False", "bool")),
    (Group::Host, ("NEURON_NUMA_PIN", "", "True", "bool")),
];

#[test]
fn every_variable_of_the_reference_is_registered_in_order() {
    let rows: Vec<Row> = REFERENCE.iter().flat_map(|(_, rows)| *rows).copied().collect();
    let expected: Vec<_> = rows.iter().map(|row| row.0).collect();
    assert_eq!(expected.len(), 38);
    assert_eq!(names_of(Page::Reference), expected);
    for (group, rows) in REFERENCE {
        rows.iter().for_each(|row| check(*group, row));
    }
}

#[test]
fn the_variables_of_running_text_and_of_the_guidelines_are_registered() {
    for (page, rows) in [(Page::ReferenceText, REFERENCE_TEXT), (Page::Guidelines, GUIDELINES)] {
        let expected: Vec<_> = rows.iter().map(|(_, row)| row.0).collect();
        assert_eq!(names_of(page), expected);
        rows.iter().for_each(|(group, row)| check(*group, row));
    }
}

#[test]
fn everything_else_is_a_variable_of_the_runtime() {
    let names = names_of(Page::Runtime);
    assert_eq!(names.len(), 17);
    assert!(names.iter().all(|name| name.starts_with("NEURON_")), "{names:?}");
    let counted = 38 + REFERENCE_TEXT.len() + GUIDELINES.len() + names.len();
    assert_eq!(Variable::all().count(), counted);
}

fn names_of(page: Page) -> Vec<&'static str> {
    Variable::all().filter(|variable| variable.page() == page).map(Variable::name).collect()
}

#[track_caller]
fn check(group: Group, &(name, page_type, page_default, kind): &Row) {
    let variable = Variable::by_name(name).expect("the variable is registered");
    assert_eq!((variable.group(), variable.kind().name()), (group, kind), "{name}");
    let narrower: &[&str] = match page_type {
        "str" => &["str", "path", "list"],
        "" => &["bool", "str", "int", "choice", "keys"],
        same => &[same],
    };
    assert!(narrower.contains(&kind), "{name}: {page_type} is not {kind}");
    let default = match page_default {
        "True" => "1",
        "False" => "0",
        "PyTorch >= 2.13: True; otherwise False" => "1 from PyTorch 2.13 on, 0 before",
        "(query live instance)" => "the platform of the live instance",
        "on (default stream)" => "on for the default stream",
        same => same,
    };
    assert_eq!(variable.default_value().to_string(), default, "{name}");
    let is_fact = matches!(variable.default_value(), DefaultValue::Depends { .. });
    let says_fact = [" ", "<"].iter().any(|mark| page_default.contains(mark));
    assert_eq!(is_fact, says_fact && page_default != "not stated", "{name}");
}
