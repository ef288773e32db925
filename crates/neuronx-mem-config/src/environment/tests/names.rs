//! Names that no page has.

use super::super::elsewhere::{OTHER_BUILDS, RENAMED, TOOLS};
use super::{environment, lines};
use crate::{Environment, Variable, lint};

/// The known name that is offered for an unknown one; `-` when it is reported without, none when not.
fn offered(name: &str) -> Option<String> {
    let findings = lint(&Environment::from_pairs([(name, "1")]));
    let message = findings.first()?.to_string();
    let Some((_, rest)) = message.split_once("did you mean `") else { return Some("-".to_owned()) };
    Some(rest.trim_end_matches("`?").to_owned())
}

#[track_caller]
fn check(name: &str, expected: &str) {
    assert_eq!(offered(name).as_deref(), Some(expected), "{name}");
}

#[test]
fn slips_meet_the_name_that_was_meant() {
    check("TORCH_NEURONX_ENABLE_STREAM", "TORCH_NEURONX_ENABLE_STREAMS");
    check("TORCH_NEURONX_NEF_CACHE_DIR", "TORCH_NEURONX_NEFF_CACHE_DIR");
    check("TORCH_NEURONX_NEFF_CACHE_DISABLE", "TORCH_NEURONX_NEFF_DISABLE_CACHE");
    check("TORCH_NEURON_DEBUG_DIR", "TORCH_NEURONX_DEBUG_DIR");
    check("TORCH_NEURNX_DEBUG_DIR", "TORCH_NEURONX_DEBUG_DIR");
    check("TORCH_NEURONX_OOM_RECOVERY_ENABLED", "NEURON_OOM_RECOVERY_ENABLED");
    check("NEURON_OOM_RECOVERY", "NEURON_OOM_RECOVERY_ENABLED");
    check("TORCH_NEURONX_LAUNCH_BLOCKING", "NEURON_LAUNCH_BLOCKING");
    check("NEURON_INT64_MODE", "TORCH_NEURONX_INT64_MODE");
    check("TORCH_NEURONX_NUMA_PIN", "NEURON_NUMA_PIN");
    check("NEURON_RT_VISIBLE_CORE", "NEURON_RT_VISIBLE_CORES");
    check("NEURON_RT_LOG_LEVL", "NEURON_RT_LOG_LEVEL");
    check("torch_neuronx_log_level", "TORCH_NEURONX_LOG_LEVEL");
    check("TORCH_NEURONX_ALLOCATOR_CONFIG", "TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG");
    check("NKI_ENABLE_TRACE_CACH", "NKI_ENABLE_TRACE_CACHE");
    check("COLLECTIVE_BUCKETSIZE_MB", "COLLECTIVE_BUCKETSIZE_IN_MB");
}

#[test]
fn every_name_meets_itself_with_one_letter_gone() {
    for variable in Variable::all().filter(|variable| variable.name() != "RANK") {
        let name = variable.name();
        let cut = &name[..name.len() - 1];
        assert_eq!(offered(cut).as_deref(), Some(name), "{cut}");
    }
}

#[test]
fn claimed_names_are_reported_even_if_nothing_is_near() {
    check("NEURON_SOMETHING_ENTIRELY_DIFFERENT", "-");
    check("TORCH_NEURONX_", "-");
    check(&format!("NEURON_{}", "Q".repeat(1000)), "-");
}

#[test]
fn names_of_others_are_not_reported() {
    for name in TOOLS.iter().chain(OTHER_BUILDS) {
        assert_eq!(offered(name), None, "{name}");
        assert_eq!(Variable::by_name(name), None, "{name}");
    }
    for name in [
        "AWS_NEURON_VISIBLE_DEVICES",
        "NEURON_RT_INSPECT_SOMETHING",
        "NEURON_RT_LOG_LEVEL_KRT",
        "NEURONX_MEM_SIMULATE",
        "MY_NEURON_APP_HOME",
        "PATH",
        "RANKS",
        "USER",
        "LOGNAME",
    ] {
        assert_eq!(offered(name), None, "{name}");
    }
}

#[test]
fn names_of_older_builds_point_at_the_new_name() {
    for (old, new) in RENAMED {
        assert!(Variable::by_name(old).is_none() && Variable::by_name(new).is_some(), "{old}");
    }
    let findings = lint(&environment(&[
        "TORCH_NEURONX_DISABLE_NEFF_CACHE=1",
        "NEURON_RT_ENABLE_HOST_CC=1",
        "NEURON_X=1",
    ]));
    insta::assert_snapshot!(lines(&findings), @"
    error renamed TORCH_NEURONX_ENABLE_HOST_CC: NEURON_RT_ENABLE_HOST_CC is read by older builds only and does nothing here; set TORCH_NEURONX_ENABLE_HOST_CC instead
    note unknown_name -: unknown variable `NEURON_X`: no page names it
    error renamed TORCH_NEURONX_NEFF_DISABLE_CACHE: TORCH_NEURONX_DISABLE_NEFF_CACHE is read by older builds only and does nothing here; set TORCH_NEURONX_NEFF_DISABLE_CACHE instead
    ");
}

#[test]
fn many_unknown_names_are_counted() {
    let names = (0..200).map(|number| (format!("NEURON_UNHEARD_OF_{number:03}"), "1"));
    let findings = lint(&Environment::from_pairs(names));
    assert_eq!(findings.len(), 65);
    assert_eq!(findings[64].to_string(), "and 136 more unknown variables");
}
