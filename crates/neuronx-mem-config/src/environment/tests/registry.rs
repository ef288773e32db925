//! Laws of the registry itself.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use super::super::parse::parse;
use super::super::variables::TABLES;
use crate::{DefaultValue, Environment, Group, Kind, Origin, Value, Variable};

#[test]
fn names_are_unique_and_found() {
    let names: BTreeSet<_> = Variable::all().map(Variable::name).collect();
    assert_eq!(names.len(), Variable::all().count());
    for variable in Variable::all() {
        assert_eq!(Variable::by_name(variable.name()), Some(variable));
    }
    assert_eq!(Variable::by_name("torch_neuronx_log_level"), None);
}

#[test]
fn tables_are_in_the_order_of_the_groups() {
    for (group, table) in Group::ALL.into_iter().zip(TABLES) {
        assert!(!table.is_empty() && table.iter().all(|variable| variable.group() == group), "{group}");
    }
}

#[test]
fn documentation_is_one_line_fit_for_a_table() {
    for variable in Variable::all() {
        let text = variable.documentation();
        assert!(text.ends_with('.') && text.len() > 20, "{variable}: {text}");
        assert!(!text.contains(['|', '\n']) && !text.contains("  "), "{variable}: {text}");
        assert_eq!(text.matches('`').count() % 2, 0, "{variable}: {text}");
    }
}

#[test]
fn every_default_is_a_value_of_its_own_type() {
    for variable in Variable::all() {
        let text = match variable.default_value() {
            DefaultValue::Plain(text) => text,
            DefaultValue::Depends { assumed, .. } => assumed,
            DefaultValue::NotStated => continue,
        };
        if text.is_empty() {
            continue;
        }
        let accepted = parse(variable.kind(), OsStr::new(text));
        assert!(accepted.is_ok_and(|accepted| accepted.items.is_empty()), "{variable}");
    }
}

#[test]
fn setting_a_default_changes_the_origin_only() {
    for variable in Variable::all() {
        let default = Environment::default().read(variable);
        let text = default.value.to_string();
        if text.is_empty() {
            continue;
        }
        let set = Environment::from_pairs([(variable.name(), text)]).read(variable);
        assert_eq!((&set.value, set.origin), (&default.value, Origin::Set), "{variable}");
        assert_eq!(set.findings, [], "{variable}");
    }
}

#[test]
fn only_unknown_facts_and_unstated_defaults_have_no_value() {
    let unknown = Variable::all()
        .filter(|&variable| Environment::default().read(variable).value == Value::Unknown)
        .map(|variable| format!("{variable} ({})", variable.default_value()));
    insta::assert_snapshot!(unknown.collect::<Vec<_>>().join("\n"), @"
    NEURON_PLATFORM_TARGET_OVERRIDE (the platform of the live instance)
    NKI_TRACE_CACHE_URL (/var/tmp/nki-trace-cache-uid<uid>/)
    TORCHINDUCTOR_CACHE_DIR (/tmp/torchinductor_<username>/)
    RANK (not stated)
    NEURON_RT_VISIBLE_CORES (not stated)
    NEURON_RT_MULTI_INSTANCE_SHARED_WEIGHTS (not stated)
    NEURON_RT_ENABLE_DEVICE_MEMORY_OOM_LOG (not stated)
    NEURON_RT_DBG_SCRATCHPAD_ON_SINGLE_CORE (not stated)
    NEURON_RT_MAP_HBM (not stated)
    NEURON_RT_DBG_ZEROCOPY (not stated)
    NEURON_RT_ENABLE_MEMORY_METRICS (not stated)
    NEURON_RT_PROFILE_BUF_EVENT_MB (not stated)
    NEURON_RT_PROFILE_BUF_DMA_MB (not stated)
    NEURON_RT_PROFILE_BUF_THROTTLE_MB (not stated)
    NEURON_RT_PROFILE_BUF_CC_CORE_INSTRUCTION_MB (not stated)
    NEURON_RT_PROFILE_BUF_CC_CORE_EVENT_MB (not stated)
    ");
}

#[test]
fn packages_are_named_by_their_full_name() {
    for variable in Variable::all() {
        for package in variable.honoured_by() {
            assert!(package.starts_with("neuronx-mem"), "{variable}: {package}");
        }
    }
}

#[test]
fn only_lists_and_choices_have_words() {
    for variable in Variable::all() {
        let has_words = !variable.kind().words().is_empty();
        assert!(!has_words || matches!(variable.kind(), Kind::Choice(_) | Kind::List(_)), "{variable}");
    }
}
