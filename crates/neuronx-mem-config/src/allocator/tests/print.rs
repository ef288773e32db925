//! Both printed forms, and the pinned hashes of the same configurations.

use super::config;
use crate::ConfigKey::*;
use crate::{AllocatorConfig, ConfigKey};

/// Checks the shortest text and the hash; the hashes were computed by an independent program.
#[track_caller]
fn check(items: &[(ConfigKey, u64)], expected: &str, hash: u64) {
    let config = config(items);
    assert_eq!(config.to_env_string(), expected);
    assert_eq!(config.hash64(), hash, "{:#018x}", config.hash64());
    assert_eq!(AllocatorConfig::parse(expected).config, config);
}

#[test]
fn only_what_is_needed_is_printed() {
    check(&[], "", 0xe939_a336_4c62_0515);
    check(&[(RoundupPower2Divisions, 8)], "kRoundupPower2Divisions=8", 0x34db_36af_259b_ef99);
    check(
        &[(MaxNonSplitRoundingBytes, 67_108_864), (MaxSplitSizeBytes, 536_870_912)],
        "kMaxSplitSizeBytes=536870912,kMaxNonSplitRoundingBytes=67108864",
        0x4ba5_bdcd_0026_8d0e,
    );
    // The follower moves along and need not be named, whether it was set or not.
    check(&[(MinRoundedSize, 512)], "kMinRoundedSize=512", 0x860c_e034_1988_3a55);
    check(&[(MinRoundedSize, 512), (SmallSplitThreshold, 512)], "kMinRoundedSize=512", 0x860c_e034_1988_3a55);
}

#[track_caller]
fn check_text(items: &[(ConfigKey, u64)], expected: &str) {
    assert_eq!(config(items).to_env_string(), expected);
}

#[test]
fn a_follower_is_named_when_it_does_not_follow() {
    check_text(&[(SmallSplitThreshold, 512)], "kSmallSplitThreshold=512");
    check_text(&[(SmallSplitThreshold, 256)], "");
    check_text(
        &[(SmallSplitThreshold, 256), (MinRoundedSize, 512)],
        "kMinRoundedSize=512,kSmallSplitThreshold=256",
    );
    check_text(
        &[(PoolBoundary, 4096), (LargeSplitThreshold, 1_048_576)],
        "kPoolBoundary=4096,kLargeSplitThreshold=1048576",
    );
}

#[test]
fn display_prints_every_key() {
    insta::assert_snapshot!(AllocatorConfig::default(), @"kPoolBoundary=1048576,kSmallSegmentSize=2097152,kMediumSegmentSize=67108864,kMediumThreshold=16777216,kSegmentAlignment=2097152,kMinRoundedSize=256,kRoundupPower2Divisions=4,kSmallSplitThreshold=256,kLargeSplitThreshold=1048576,kMaxSplitSizeBytes=18446744073709551615,kMaxNonSplitRoundingBytes=20971520");
}
