//! Followers, provenance, equality and the stable hash.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use super::config;
use crate::ConfigKey::*;
use crate::{AllocatorConfig, Source};

#[test]
fn followers_move_until_they_are_set() {
    let followed = config(&[(MinRoundedSize, 512), (PoolBoundary, 4096)]);
    assert_eq!(followed.small_split_threshold_bytes(), 512);
    assert_eq!(followed.large_split_threshold_bytes(), 4096);
    assert_eq!(followed.source(SmallSplitThreshold), Source::Follows(MinRoundedSize));
    assert_eq!(followed.source(LargeSplitThreshold), Source::Follows(PoolBoundary));

    let set_before = config(&[(SmallSplitThreshold, 64), (MinRoundedSize, 512)]);
    let set_after = config(&[(MinRoundedSize, 512), (SmallSplitThreshold, 64)]);
    assert_eq!(set_before.small_split_threshold_bytes(), 64);
    assert_eq!(set_after.small_split_threshold_bytes(), 64);
    assert_eq!(set_after.source(SmallSplitThreshold), Source::Code);
}

#[test]
fn a_refused_value_leaves_the_original_usable() {
    let original = config(&[(SegmentAlignment, 4096)]);
    assert!(original.with(SegmentAlignment, 4097).is_err());
    assert_eq!(original.segment_alignment_bytes(), 4096);
}

#[track_caller]
fn check_source(text: &str, given: Source, expected: Source) {
    let parsed = AllocatorConfig::parse_as(text, given);
    assert_eq!(parsed.config.source(PoolBoundary), expected);
}

#[test]
fn sources_tell_who_set_a_key() {
    check_source("kPoolBoundary=4096", Source::Environment, Source::Environment);
    check_source("kPoolBoundary=4096", Source::Code, Source::Code);
    // The default value, given in so many words, is set all the same.
    check_source("kPoolBoundary=1048576", Source::Environment, Source::Environment);
    // A text cannot claim that nobody set the key.
    check_source("kPoolBoundary=4096", Source::Default, Source::Code);
    check_source("kPoolBoundary=4096", Source::Follows(MinRoundedSize), Source::Code);
    // A refused value sets nothing.
    check_source("kPoolBoundary=4k", Source::Environment, Source::Default);
    let code = AllocatorConfig::parse("kPoolBoundary=4096").config.with(PoolBoundary, 8192).unwrap();
    assert_eq!(code.source(PoolBoundary), Source::Code);
}

#[test]
fn sources_print_as_words() {
    let printed = [Source::Default, Source::Follows(PoolBoundary), Source::Environment, Source::Code]
        .map(|s| s.to_string());
    assert_eq!(printed, ["default", "follows kPoolBoundary", "environment", "code"]);
}

fn std_hash(config: &AllocatorConfig) -> u64 {
    let mut hasher = DefaultHasher::new();
    config.hash(&mut hasher);
    hasher.finish()
}

#[test]
fn equality_and_hashes_ignore_provenance() {
    let followed = config(&[(MinRoundedSize, 512)]);
    let spelled_out = AllocatorConfig::parse("kSmallSplitThreshold=512,kMinRoundedSize=512").config;
    assert_eq!(followed, spelled_out);
    assert_eq!(std_hash(&followed), std_hash(&spelled_out));
    assert_eq!(followed.hash64(), spelled_out.hash64());
    for key in crate::ConfigKey::ALL {
        let other = config(&[(key, 2)]);
        assert_ne!(other, AllocatorConfig::default(), "{key}");
        assert_ne!(other.hash64(), AllocatorConfig::default().hash64(), "{key}");
    }
}
