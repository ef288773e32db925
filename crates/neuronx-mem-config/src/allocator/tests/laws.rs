//! Laws over arbitrary texts and arbitrary valid configurations, from a fixed seed.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::{AllocatorConfig, ConfigKey, Finding, MAX_ITEM_FINDINGS, Source, combinations};

fn settings() -> ProptestConfig {
    ProptestConfig {
        cases: 512,
        rng_seed: RngSeed::Fixed(0x6e65_7572_6f6e),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Any characters at all, NUL and line breaks included.
fn any_text() -> impl Strategy<Value = String> {
    prop::collection::vec(any::<char>(), 0..200).prop_map(String::from_iter)
}

/// Texts that come close to the format, so that every branch of the reader is reached.
fn near_text() -> impl Strategy<Value = String> {
    let words = [
        ",",
        "=",
        " ",
        "\0",
        "1",
        "0",
        "64",
        "4096",
        "99999999999999999999",
        "1MB",
        "1.5",
        "k",
        "+",
        "0x",
        "_",
        "é",
        "\u{3000}",
        "kPoolBoundry",
        "SIZE_MAX",
    ];
    let words: Vec<&'static str> = words.into_iter().chain(ConfigKey::ALL.map(ConfigKey::name)).collect();
    prop::collection::vec(prop::sample::select(words), 0..60).prop_map(|words| words.concat())
}

/// Any valid value, with a bias to small ones and to the ends of 64 bits.
fn any_value(key: ConfigKey) -> impl Strategy<Value = u64> {
    let any = prop_oneof![0..100_000_u64, any::<u64>(), Just(u64::MAX), Just(256), Just(1_048_576)];
    (any, 0..64_u32).prop_map(move |(value, shift)| match key {
        ConfigKey::SegmentAlignment => 1 << shift,
        ConfigKey::RoundupPower2Divisions => value % 64 + 1,
        _ => value,
    })
}

fn any_config() -> impl Strategy<Value = AllocatorConfig> {
    let item = prop::sample::select(ConfigKey::ALL.to_vec())
        .prop_flat_map(|key| any_value(key).prop_map(move |value| (key, value)));
    prop::collection::vec(item, 0..15).prop_map(|items| super::config(&items))
}

/// Every position lies in the text, every message is one line, and the config is usable.
fn assert_sound(text: &str) -> Result<(), TestCaseError> {
    let parsed = AllocatorConfig::parse(text);
    prop_assert!(parsed.findings.len() <= MAX_ITEM_FINDINGS + 7);
    for finding in &parsed.findings {
        if let Some(position) = finding.position() {
            prop_assert!(text.get(position).is_some(), "{finding:?}");
        }
        prop_assert!(!finding.to_string().chars().any(char::is_control), "{finding:?}");
    }
    for (key, value) in parsed.config.entries() {
        prop_assert!(key.check(value).is_ok());
    }
    Ok(())
}

/// Reading a printed configuration gives equal values and no findings but combinations.
fn assert_reads_back(printed: &str, config: &AllocatorConfig) -> Result<(), TestCaseError> {
    let parsed = AllocatorConfig::parse(printed);
    prop_assert_eq!(&parsed.config, config);
    prop_assert_eq!(parsed.config.hash64(), config.hash64());
    prop_assert_eq!(parsed.findings, combinations(config));
    Ok(())
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn no_text_panics(text in any_text()) {
        assert_sound(&text)?;
    }

    #[test]
    fn no_text_near_the_format_panics(text in near_text()) {
        assert_sound(&text)?;
    }

    #[test]
    fn both_printed_forms_read_back(config in any_config()) {
        assert_reads_back(&config.to_string(), &config)?;
        assert_reads_back(&config.to_env_string(), &config)?;
    }

    #[test]
    fn leaving_out_an_item_of_the_short_form_changes_a_value(config in any_config()) {
        let printed = config.to_env_string();
        let items: Vec<&str> = printed.split(',').filter(|item| !item.is_empty()).collect();
        for left_out in 0..items.len() {
            let rest: Vec<&str> = items.iter().enumerate().filter(|(idx, _)| *idx != left_out).map(|(_, item)| *item).collect();
            prop_assert_ne!(AllocatorConfig::parse(&rest.join(",")).config, config);
        }
    }

    #[test]
    fn sources_are_set_exactly_for_accepted_items(text in near_text()) {
        let parsed = AllocatorConfig::parse(&text);
        for key in ConfigKey::ALL {
            let mentioned = text.contains(key.name());
            let set = parsed.config.source(key) == Source::Environment;
            prop_assert!(mentioned || !set, "{key}");
        }
        let duplicates = parsed.findings.iter().filter(|finding| matches!(finding, Finding::Duplicate { .. }));
        for finding in duplicates {
            let key = finding.key().expect("a duplicate has a key");
            prop_assert_eq!(parsed.config.source(key), Source::Environment);
        }
    }
}
