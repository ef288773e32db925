//! Where two crates must know the same rule without knowing each other, both are asked.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_config::{AllocatorConfig, ConfigKey, Environment, Int64Settings, round_size, variables};
use neuronx_mem_int64::{Int64Mode, Int64Policy};
use neuronx_mem_rounding::RoundingScheme;
use proptest::prelude::*;

/// The page of environment variables says which package acts on each; all of them must exist.
#[test]
fn packages_that_honour_a_variable_are_in_the_workspace() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    for variable in neuronx_mem_config::Variable::all() {
        for package in variable.honoured_by() {
            assert!(crates.join(package).is_dir(), "{}: {package}", variable.name());
        }
    }
}

/// Both leaves know the modes; one reads the variables, the other obeys.
#[test]
fn the_int64_crate_obeys_what_the_config_crate_reads() {
    let config_modes = neuronx_mem_config::Int64Mode::ALL.map(|mode| (mode.name(), mode.packs()));
    assert_eq!(Int64Mode::ALL.map(|mode| (mode.name(), mode.packs())), config_modes);
    for (mode, check) in Int64Mode::ALL.into_iter().flat_map(|mode| [(mode, false), (mode, true)]) {
        let environment = Environment::from_pairs([
            ("TORCH_NEURONX_INT64_MODE", mode.name()),
            ("TORCH_NEURONX_PACKED_INT64_CHECK_OVERFLOW", if check { "1" } else { "0" }),
        ]);
        let (settings, _) = Int64Settings::from_environment(&environment);
        let (policy, warning) = Int64Policy::from_values(Some(settings.mode.name()), settings.check_overflow);
        assert_eq!((policy, warning), (Int64Policy::new(mode, check), None));
    }
}

/// A leaf uses no other leaf, so the launcher reads its switch itself; it must read what `env` shows.
#[test]
fn the_launcher_reads_its_switch_as_the_registry_does() {
    let words = ["", "0", "1", "on", "OFF", " no ", "False", "true", "2", "-1", "nope", "00", "\t0\n"];
    for text in words {
        let environment = Environment::from_pairs([("NEURON_NUMA_PIN", text)]);
        let theirs = environment.bool(variables::NEURON_NUMA_PIN).value;
        assert_eq!(neuronx_mem_numa::read_switch(Some(text.as_ref())), theirs, "{text:?}");
    }
    let unset = Environment::default().bool(variables::NEURON_NUMA_PIN).value;
    assert_eq!(neuronx_mem_numa::read_switch(None), unset);
}

proptest! {
    /// The config crate judges `kSmallSegmentSize` by a rounded size, but a leaf uses no other
    /// leaf; its copy of the rule must be the rounding crate's.
    #[test]
    fn config_rounds_like_the_rounding_crate(min: u32, divisions in 1u64..=64, threshold: u64, n in 1u64..u64::MAX, shift in 0u32..63) {
        let n = (n >> shift).max(1);
        let config = AllocatorConfig::default()
            .with(ConfigKey::MinRoundedSize, u64::from(min))
            .and_then(|c| c.with(ConfigKey::RoundupPower2Divisions, divisions))
            .and_then(|c| c.with(ConfigKey::MediumThreshold, threshold))
            .unwrap();
        let scheme = RoundingScheme::new(u64::from(min), u32::try_from(divisions).unwrap(), threshold).unwrap();
        let theirs = scheme.round(n).map_or_else(|| 1u128 << 64, u128::from);
        prop_assert_eq!(round_size(n, &config), theirs);
    }
}
