//! Texts into values, one line a case.

use crate::{Environment, Origin, Variable, variables::*};

/// Reads one text and compares `value origin`, then the messages.
#[track_caller]
fn check(variable: Variable, text: &str, expected: &str, messages: &[&str]) {
    let reading = Environment::from_pairs([(variable.name(), text)]).read(variable);
    assert_eq!(format!("{} {}", reading.value, reading.origin), expected, "{variable}={text:?}");
    let found: Vec<_> = reading.findings.iter().map(ToString::to_string).collect();
    assert_eq!(found, messages, "{variable}={text:?}");
}

#[test]
fn switches_take_eight_words_in_any_case() {
    for on in ["1", "true", "True", "ON", "yes", " 1 "] {
        check(NEURON_LAUNCH_BLOCKING, on, "1 set", &[]);
    }
    for off in ["0", "false", "FALSE", "Off", "no", "\t0\n"] {
        check(NEURON_NUMA_PIN, off, "0 set", &[]);
    }
    check(
        NEURON_NUMA_PIN,
        "2",
        "1 invalid",
        &[
            "NEURON_NUMA_PIN: `2` is neither on (1, true, on, yes) nor off (0, false, off, no); the default 1 holds",
        ],
    );
    check(NEURON_NUMA_PIN, "", "1 default", &["NEURON_NUMA_PIN is empty, which counts as unset"]);
    check(
        NEURON_RT_MAP_HBM,
        "maybe",
        " invalid",
        &[
            "NEURON_RT_MAP_HBM: `maybe` is neither on (1, true, on, yes) nor off (0, false, off, no); it counts as \
         unset",
        ],
    );
}

#[test]
fn streams_take_zero_and_one_only() {
    check(TORCH_NEURONX_ENABLE_STREAMS, "0", "0 set", &[]);
    check(TORCH_NEURONX_ENABLE_STREAMS, "1", "1 set", &[]);
    for text in ["false", "off", " 0", "00", "2"] {
        let message = format!(
            "TORCH_NEURONX_ENABLE_STREAMS: `{text}` is neither 0 nor 1, and nothing else is accepted; the \
             default 1 holds"
        );
        check(TORCH_NEURONX_ENABLE_STREAMS, text, "1 invalid", &[&message]);
    }
}

#[test]
fn only_one_enables_split_collectives() {
    for variable in [NEURON_USE_SPLIT_ALLGATHER, NEURON_USE_SPLIT_REDUCE_SCATTER] {
        assert_eq!(Environment::default().read(variable).value.to_string(), "1");
        check(variable, "1", "1 set", &[]);
        check(variable, "0", "0 set", &[]);
    }
    for text in ["true", "on", "", " 1", "01"] {
        let message =
            format!("NEURON_USE_SPLIT_ALLGATHER: `{text}` switches it off, because only 1 switches it on");
        check(NEURON_USE_SPLIT_ALLGATHER, text, "0 set", &[&message]);
    }
}

#[test]
fn numbers_are_plain_digits_within_a_range() {
    check(TORCH_NEURONX_LOG_LEVEL, "0", "0 set", &[]);
    check(TORCH_NEURONX_LOG_LEVEL, " 3", "3 set", &[]);
    check(
        TORCH_NEURONX_LOG_LEVEL,
        "4",
        "1 invalid",
        &["TORCH_NEURONX_LOG_LEVEL: `4` is not in 0 to 3; the default 1 holds"],
    );
    for text in ["-1", "+1", "1.0", "0x1", "DEBUG", "18446744073709551616", "１"] {
        let message = format!(
            "TORCH_NEURONX_LOG_LEVEL: `{text}` is not a whole number in decimal digits; the default 1 holds"
        );
        check(TORCH_NEURONX_LOG_LEVEL, text, "1 invalid", &[&message]);
    }
    check(
        TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT,
        "0",
        "1200 invalid",
        &["TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT: `0` is not in 1 to 2147483647; the default 1200 holds"],
    );
    check(TORCH_NEURONX_PROFILE_MAX_EVENTS_PER_NC, "18446744073709551615", "18446744073709551615 set", &[]);
    check(
        TORCH_NEURONX_PROFILE_MAX_EVENTS_PER_NC,
        "0",
        "10000000 invalid",
        &["TORCH_NEURONX_PROFILE_MAX_EVENTS_PER_NC: `0` is not in 1 or more; the default 10000000 holds"],
    );
    check(NEURON_SCRATCHPAD_PAGE_SIZE, "1024", "1024 set", &[]);
    check(
        NEURON_SCRATCHPAD_PAGE_SIZE,
        "1000",
        "512 invalid",
        &["NEURON_SCRATCHPAD_PAGE_SIZE: `1000` is not in 512 to 3584 in steps of 512; the default 512 holds"],
    );
}

#[test]
fn choices_are_spelled_exactly_and_hint_at_the_nearest() {
    check(TORCH_NEURONX_INT64_MODE, "cpu_bounce", "cpu_bounce set", &[]);
    check(
        TORCH_NEURONX_INT64_MODE,
        "Packed",
        "native invalid",
        &["TORCH_NEURONX_INT64_MODE: `Packed` is none of native, packed, native_strict, cpu_bounce, \
         cpu_fallback (did you mean `packed`?); the default native holds"],
    );
    check(
        TORCH_NEURONX_INT64_MODE,
        "gpu",
        "native invalid",
        &[
            "TORCH_NEURONX_INT64_MODE: `gpu` is none of native, packed, native_strict, cpu_bounce, cpu_fallback; \
         the default native holds",
        ],
    );
}

#[test]
fn lists_drop_single_items() {
    check(TORCH_NEURONX_PROFILE_CAPTURE_NC, "0,1,2-5", "0,1,2-5 set", &[]);
    check(TORCH_NEURONX_PROFILE_CAPTURE_NC, " 7 , 0-3", "7,0-3 set", &[]);
    check(
        TORCH_NEURONX_PROFILE_CAPTURE_NC,
        "1,5-2,,1024,x,0-4294967295",
        "1 set",
        &[
            "TORCH_NEURONX_PROFILE_CAPTURE_NC: the item `5-2` is ignored because it is a range from high to low",
            "TORCH_NEURONX_PROFILE_CAPTURE_NC: there is an empty item in the list",
            "TORCH_NEURONX_PROFILE_CAPTURE_NC: the item `1024` is ignored because it is not in 0 to 1023",
            "TORCH_NEURONX_PROFILE_CAPTURE_NC: the item `x` is ignored because it is not a whole number in \
         decimal digits",
            "TORCH_NEURONX_PROFILE_CAPTURE_NC: the item `0-4294967295` is ignored because it is not in 0 to 1023",
        ],
    );
    check(
        TORCH_NEURONX_PROFILE_CAPTURE_NC,
        "all",
        "0,1 invalid",
        &[
            "TORCH_NEURONX_PROFILE_CAPTURE_NC: `all` is not a whole number in decimal digits; the default 0,1 \
         holds",
        ],
    );
    check(
        TORCH_NEURONX_PROFILE_RANKS,
        "0,2-3,9",
        "0,9 set",
        &["TORCH_NEURONX_PROFILE_RANKS: the item `2-3` is ignored because it is a range, and only single \
         numbers are accepted"],
    );
    check(
        TORCH_NEURONX_PROFILE_MODES,
        "device,cpu-util",
        "device set",
        &[
            "TORCH_NEURONX_PROFILE_MODES: the item `cpu-util` is ignored because it is none of runtime, cpu_util, \
         host_memory, device (did you mean `cpu_util`?)",
        ],
    );
}

#[test]
fn metric_tables_of_others_are_kept_with_a_note() {
    check(TORCH_NEURONX_ENABLED_METRIC_TABLES, "", " set", &[]);
    check(
        TORCH_NEURONX_ENABLED_METRIC_TABLES,
        "oom,latency",
        "oom,latency set",
        &[
            "TORCH_NEURONX_ENABLED_METRIC_TABLES: `latency` is none of memory, segments, oom, streams; it is left \
         to others",
        ],
    );
}

#[test]
fn long_lists_name_only_the_first_bad_items() {
    let text = format!("1{}", ",x".repeat(100));
    let environment = Environment::from_pairs([(TORCH_NEURONX_PROFILE_RANKS.name(), text)]);
    let reading = environment.list(TORCH_NEURONX_PROFILE_RANKS);
    assert_eq!((reading.value, reading.findings.len()), (vec!["1".to_owned()], 65));
    assert_eq!(reading.findings[64].to_string(), "TORCH_NEURONX_PROFILE_RANKS: and 36 more items like these");
}

#[test]
fn defaults_follow_their_facts() {
    let unknown = Environment::default();
    assert_eq!(
        unknown.bool(TORCH_NEURONX_COMPLEX_DECOMPOSE).origin.to_string(),
        "default for the PyTorch version"
    );
    for ((major, minor), on) in [((2, 12), false), ((2, 13), true), ((3, 0), true), ((1, 99), false)] {
        let environment = Environment::default().with_pytorch_version(major, minor);
        assert_eq!(environment.bool(TORCH_NEURONX_COMPLEX_DECOMPOSE).value, on, "{major}.{minor}");
    }
    let path = |environment: &Environment| environment.path(TORCHINDUCTOR_CACHE_DIR).value;
    assert_eq!(path(&unknown).as_os_str(), "");
    let user = Environment::from_pairs([("LOGNAME", ""), ("USER", "ada")]);
    assert_eq!(path(&user).as_os_str(), "/tmp/torchinductor_ada/");
}

#[test]
fn accessors_of_another_type_give_an_empty_value() {
    let environment = Environment::default();
    assert!(!environment.bool(TORCH_NEURONX_LOG_LEVEL).value);
    assert_eq!(environment.int(NEURON_NUMA_PIN).value, 0);
    assert_eq!(environment.path(NEURON_NUMA_PIN).value.as_os_str(), "");
    assert_eq!(environment.list(NEURON_NUMA_PIN).value, [""; 0]);
    assert_eq!(environment.text(NEURON_NUMA_PIN).value, "1");
    assert_eq!(environment.text(RANK).value, "");
    assert_eq!(environment.int(RANK).origin, Origin::Unset);
}

#[test]
fn a_path_has_no_nul() {
    check(TORCH_NEURONX_DEBUG_DIR, "/scratch/a b", "/scratch/a b set", &[]);
    check(
        TORCH_NEURONX_DEBUG_DIR,
        "/x\0y",
        "/tmp/neuron_backend invalid",
        &["TORCH_NEURONX_DEBUG_DIR: `/x\\0y` contains a NUL byte; the default /tmp/neuron_backend holds"],
    );
}

#[cfg(unix)]
#[test]
fn bytes_that_are_not_unicode_are_fit_for_paths_only() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let bytes = OsStr::from_bytes(b"/fsx/\xff");
    let environment = Environment::from_pairs(
        [TORCH_NEURONX_NEFF_CACHE_DIR, NKI_TRACE_CACHE_URL].map(|v| (v.name(), bytes)),
    );
    assert_eq!(environment.path(TORCH_NEURONX_NEFF_CACHE_DIR).value.as_os_str(), bytes);
    let text = environment.text(NKI_TRACE_CACHE_URL);
    assert_eq!((text.value.as_str(), text.origin), ("", Origin::Invalid));
    assert_eq!(
        text.findings[0].to_string(),
        "NKI_TRACE_CACHE_URL: `/fsx/\u{fffd}` is not valid UTF-8; it counts as unset"
    );
}

#[test]
fn the_last_of_equal_names_wins_and_other_names_are_not_kept() {
    let pairs = [("NEURON_NUMA_PIN", "1"), ("NEURON_NUMA_PIN", "0"), ("AWS_SECRET", "x"), ("HOME", "/h")];
    let environment = Environment::from_pairs(pairs);
    assert_eq!(environment, Environment::from_pairs([("NEURON_NUMA_PIN", "0")]));
    assert!(environment.is_set(NEURON_NUMA_PIN) && !environment.is_set(RANK));
}
