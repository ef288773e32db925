//! Any text as a configuration: findings that name a place in it, and a configuration that its own
//! text gives back.

#![no_main]

use libfuzzer_sys::fuzz_target;
use neuronx_mem_config::{AllocatorConfig, Environment, combinations, lint};

fuzz_target!(|text: &str| {
    let parsed = AllocatorConfig::parse(text);
    for finding in &parsed.findings {
        assert!(!finding.to_string().is_empty());
        if let Some(position) = finding.position() {
            assert!(text.get(position.clone()).is_some(), "{position:?} is no place in the text");
        }
    }
    let printed = parsed.config.to_env_string();
    let again = AllocatorConfig::parse(&printed).config;
    assert_eq!(again.hash64(), parsed.config.hash64(), "`{printed}`");
    assert_eq!(again.to_env_string(), printed);
    let _ = combinations(&parsed.config);
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    for finding in lint(&Environment::from_pairs(pairs)) {
        assert!(!finding.to_string().is_empty());
    }
});
