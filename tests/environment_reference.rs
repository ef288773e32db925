//! The allocator section of the environment variables reference: defaults, format and examples,
//! from the string to the layout.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem::config::{AllocatorConfig, ConfigKey};
use neuronx_mem::pool::SegmentPool;

/// The table as it is printed there.
const TABLE: [(&str, u64); 11] = [
    ("kPoolBoundary", 1_048_576),
    ("kSmallSegmentSize", 2_097_152),
    ("kMediumSegmentSize", 67_108_864),
    ("kMediumThreshold", 16_777_216),
    ("kSegmentAlignment", 2_097_152),
    ("kMinRoundedSize", 256),
    ("kRoundupPower2Divisions", 4),
    ("kSmallSplitThreshold", 256),
    ("kLargeSplitThreshold", 1_048_576),
    ("kMaxSplitSizeBytes", u64::MAX),
    ("kMaxNonSplitRoundingBytes", 20_971_520),
];

#[test]
fn table_of_keys_and_defaults() {
    let config = AllocatorConfig::default();
    let ours: Vec<(&str, u64)> = ConfigKey::ALL.iter().map(|key| (key.name(), config.get(*key))).collect();
    assert_eq!(ours, TABLE);
}

/// (config, request, block size, segment size): what each key does to one fresh request.
#[track_caller]
fn check(config: &str, request: u64, block_bytes: u64, segment_bytes: u64) {
    let parsed = AllocatorConfig::parse(config);
    let mut pool = SegmentPool::new(&parsed.config);
    let planned = pool.policy().plan(request).unwrap();
    let planned_segment = pool.policy().segment_bytes(&planned).unwrap();
    let placed = pool.grow(&planned, 0, planned_segment, 0).unwrap();
    assert_eq!((placed.block_bytes, planned_segment), (block_bytes, segment_bytes), "{config}");
}

#[test]
fn each_key_takes_effect() {
    check("kPoolBoundary=4096", 4096, 4096, 67_108_864);
    check("kSmallSegmentSize=4194304", 1, 256, 4_194_304);
    check("kMediumSegmentSize=33554432", 1_048_576, 1_048_576, 33_554_432);
    check("kMediumThreshold=8388608", 9_000_001, 9_000_001, 10_485_760);
    check("kSegmentAlignment=16777216", 17_000_000, 17_000_000, 33_554_432);
    check("kMinRoundedSize=4096", 1, 4096, 2_097_152);
    check("kRoundupPower2Divisions=1", 5_242_881, 8_388_608, 67_108_864);
    check("kSmallSplitThreshold=2097152", 1, 2_097_152, 2_097_152);
    check("kLargeSplitThreshold=67108864", 1_048_576, 67_108_864, 67_108_864);
}

#[test]
fn format_a_bad_item_keeps_the_default_and_never_stops_the_program() {
    let table = [
        "kPoolBoundary=1MB",
        "kPoolBoundary=-1",
        "kPoolBoundary=+1",
        "kPoolBoundary=0x10",
        "kPoolBoundary=",
        "kPoolBoundary",
        "kUnknown=1",
        "kRoundupPower2Divisions=0",
        "kRoundupPower2Divisions=65",
        "kSegmentAlignment=3",
        "kPoolBoundary=18446744073709551616",
    ];
    for text in table {
        let parsed = AllocatorConfig::parse(text);
        assert_eq!(parsed.config, AllocatorConfig::default(), "{text}");
        assert_eq!(parsed.findings.len(), 1, "{text}");
    }
}

#[test]
fn examples_parse_without_findings() {
    for text in
        ["kMaxSplitSizeBytes=536870912,kMaxNonSplitRoundingBytes=67108864", "kRoundupPower2Divisions=8"]
    {
        assert!(AllocatorConfig::parse(text).findings.is_empty(), "{text}");
    }
}
