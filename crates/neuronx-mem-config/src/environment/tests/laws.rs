//! Whatever an environment holds, reading it does no harm.

use std::ffi::OsString;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::{
    ArtifactLayout, CacheSettings, Environment, Int64Settings, LogLevel, MetricsSettings, Origin,
    ProfilingDefaults, RuntimeSwitches, Variable, lint, table,
};

/// Text that is near to what is accepted, text that is not, and on Unix bytes that are no text.
fn any_text() -> impl Strategy<Value = OsString> {
    prop_oneof![
        "[01]|true|off|[0-9]{1,25}|[0-9,-]{0,40}|[a-z_,]{0,40}".prop_map(OsString::from),
        "[^/]{0,40}".prop_map(OsString::from),
        any::<String>().prop_map(OsString::from),
        any_bytes(),
    ]
}

#[cfg(unix)]
fn any_bytes() -> BoxedStrategy<OsString> {
    use std::os::unix::ffi::OsStringExt;
    vec(any::<u8>(), 0..60).prop_map(OsString::from_vec).boxed()
}

#[cfg(not(unix))]
fn any_bytes() -> BoxedStrategy<OsString> {
    any::<String>().prop_map(OsString::from).boxed()
}

fn any_name() -> impl Strategy<Value = OsString> {
    let names: Vec<&str> = Variable::all().map(Variable::name).collect();
    prop_oneof![
        6 => proptest::sample::select(names).prop_map(OsString::from),
        1 => "(TORCH_NEURONX|NEURON|NEURON_RT)_[A-Z_]{0,80}".prop_map(OsString::from),
        1 => any_bytes().prop_map(|bytes| {
            let mut name = OsString::from("NEURON_");
            name.push(bytes);
            name
        }),
    ]
}

/// Calls everything that reads an environment, and checks what holds of every message.
fn read_all(environment: &Environment) {
    let findings = lint(environment);
    for finding in &findings {
        let message = finding.to_string();
        assert!(!message.is_empty() && !message.ends_with('.'), "{message}");
        assert!(!message.contains(|char: char| char.is_control()), "{message:?}");
    }
    for row in table(environment) {
        assert!(!row.value.contains(|char: char| char.is_control()), "{:?}", row.value);
    }
    let (profiling, _) = ProfilingDefaults::from_environment(environment);
    assert!(!profiling.modes.is_empty() && !profiling.ranks.is_empty() && !profiling.cores.is_empty());
    let (cache, _) = CacheSettings::from_environment(environment);
    assert!(cache.lock_timeout_seconds >= 1);
    let _ = ArtifactLayout::from_environment(environment);
    let _ = Int64Settings::from_environment(environment);
    let _ = LogLevel::from_environment(environment);
    let _ = MetricsSettings::from_environment(environment);
    let _ = RuntimeSwitches::from_environment(environment);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn anything_can_be_read(pairs in vec((any_name(), any_text()), 0..20)) {
        read_all(&Environment::from_pairs(pairs));
    }

    #[test]
    fn an_invalid_text_leaves_the_default(variable in proptest::sample::select(Variable::all().collect::<Vec<_>>()), text in any_text()) {
        let reading = Environment::from_pairs([(OsString::from(variable.name()), text)]).read(variable);
        if reading.origin != Origin::Set {
            prop_assert_eq!(&reading.value, &Environment::default().read(variable).value);
            prop_assert_eq!(reading.findings.len(), 1);
        }
    }

    #[test]
    fn what_prints_reads_back(variable in proptest::sample::select(Variable::all().collect::<Vec<_>>()), text in "[ -~]{0,40}") {
        let read = |text: &str| Environment::from_pairs([(variable.name(), text)]).read(variable).value;
        let value = read(&text);
        if !text.contains(['\\', '\'', '"']) && value.to_string() != "" {
            prop_assert_eq!(read(&value.to_string()), value);
        }
    }
}

#[test]
fn a_megabyte_of_garbage_for_each_variable_is_read() {
    const MEGABYTE: usize = 1 << 20;
    for unit in [",", "x", "0-1,", ",\0", "k=v,", "\u{1F980}"] {
        let text = unit.repeat(MEGABYTE / unit.len());
        let environment =
            Environment::from_pairs(Variable::all().map(|variable| (variable.name(), text.as_str())));
        // Each list names 64 items and counts the rest.
        assert!(lint(&environment).len() < 1000);
    }
    let long_names = (0..100).map(|number| (format!("NEURON_{}{number}", "Q".repeat(10_000)), "1"));
    assert_eq!(lint(&Environment::from_pairs(long_names)).len(), 65);
}
