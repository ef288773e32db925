//! Dangerous combinations: each at its limit and one step past it.

use super::config;
use crate::ConfigKey::*;
use crate::{AllocatorConfig, ConfigKey, Finding, Severity, combinations};

/// Checks the messages for a configuration made in code.
#[track_caller]
fn check(items: &[(ConfigKey, u64)], expected: &[&str]) {
    let findings = combinations(&config(items));
    let messages: Vec<String> = findings.iter().map(Finding::to_string).collect();
    assert_eq!(messages, expected);
    for finding in findings {
        assert_eq!((finding.severity(), finding.position()), (Severity::Warning, None));
    }
}

#[test]
fn limits_themselves_are_safe() {
    check(&[], &[]);
    check(&[(MaxSplitSizeBytes, 67_108_864)], &[]);
    check(&[(SmallSegmentSize, 1_048_576)], &[]);
    check(&[(MediumSegmentSize, 16_777_216)], &[]);
    check(&[(MediumThreshold, 1_048_576)], &[]);
    check(&[(SmallSplitThreshold, 2_097_152)], &[]);
    check(&[(LargeSplitThreshold, 67_108_864)], &[]);
}

#[test]
fn one_step_past_a_limit_is_a_finding() {
    check(
        &[(MaxSplitSizeBytes, 67_108_863)],
        &["kMaxSplitSizeBytes (67108863) is below kMediumSegmentSize (67108864): free blocks of a medium \
           segment above it serve only requests of almost their size"],
    );
    check(
        &[(SmallSegmentSize, 1_048_575)],
        &["kSmallSegmentSize (1048575) is below the largest rounded request under kPoolBoundary (1048576): \
           some small requests get a segment of their own size"],
    );
    check(
        &[(MediumSegmentSize, 16_777_215)],
        &["kMediumSegmentSize (16777215) is below kMediumThreshold (16777216): some requests below the \
           threshold get a segment of their own size"],
    );
    check(
        &[(MediumThreshold, 1_048_575)],
        &[
            "kMediumThreshold (1048575) is below kPoolBoundary (1048576): no request uses a medium segment, and \
           some small requests are not rounded",
        ],
    );
    check(
        &[(SmallSplitThreshold, 2_097_153)],
        &[
            "kSmallSplitThreshold (2097153) is above kSmallSegmentSize (2097152): blocks of a small segment are \
           never split",
        ],
    );
    check(
        &[(LargeSplitThreshold, 67_108_865)],
        &[
            "kLargeSplitThreshold (67108865) is above kMediumSegmentSize (67108864): blocks of a medium segment \
           are never split",
        ],
    );
}

#[test]
fn followers_take_part() {
    let found = combinations(&config(&[(PoolBoundary, 134_217_728)]));
    let keys: Vec<_> = found.iter().filter_map(Finding::key).collect();
    assert_eq!(keys, [SmallSegmentSize, MediumThreshold, LargeSplitThreshold]);
}

#[test]
fn a_small_pool_without_requests_needs_no_segment() {
    check(&[(PoolBoundary, 0), (SmallSegmentSize, 256)], &[]);
    check(&[(PoolBoundary, 1), (SmallSegmentSize, 256)], &[]);
    check(
        &[(PoolBoundary, 2), (SmallSegmentSize, 255), (SmallSplitThreshold, 0)],
        &[
            "kSmallSegmentSize (255) is below the largest rounded request under kPoolBoundary (256): some small \
           requests get a segment of their own size",
        ],
    );
}

#[test]
fn rounding_past_64_bits_is_compared_without_wrapping() {
    let all_large = [
        (PoolBoundary, u64::MAX),
        (MediumThreshold, u64::MAX),
        (MediumSegmentSize, u64::MAX),
        (SmallSegmentSize, u64::MAX),
    ];
    check(
        &all_large,
        &[
            "kSmallSegmentSize (18446744073709551615) is below the largest rounded request under kPoolBoundary \
           (18446744073709551616): some small requests get a segment of their own size",
        ],
    );
}

#[test]
fn a_text_reports_them_after_its_items_and_keeps_the_values() {
    let parsed = AllocatorConfig::parse("kMaxSplitSizeBytes=4096,oops");
    let kinds: Vec<_> = parsed.findings.iter().map(Finding::kind).collect();
    assert_eq!(kinds, ["missing_equals", "dangerous_combination"]);
    assert_eq!(parsed.config.max_split_bytes(), 4096);
}
