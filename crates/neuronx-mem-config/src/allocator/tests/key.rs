//! The key table against a transcript of the environment variables reference.

use crate::{AllocatorConfig, ConfigError, ConfigKey, DefaultRule, KeyKind, Source};

/// Key, type and default as the reference prints them, and the default in numbers.
const REFERENCE: [(&str, &str, &str, u64); 11] = [
    ("kPoolBoundary", "bytes", "1048576 (1 MB)", 1_048_576),
    ("kSmallSegmentSize", "bytes", "2097152 (2 MB)", 2_097_152),
    ("kMediumSegmentSize", "bytes", "67108864 (64 MB)", 67_108_864),
    ("kMediumThreshold", "bytes", "16777216 (16 MB)", 16_777_216),
    ("kSegmentAlignment", "bytes", "2097152 (2 MB)", 2_097_152),
    ("kMinRoundedSize", "bytes", "256", 256),
    ("kRoundupPower2Divisions", "int", "4", 4),
    ("kSmallSplitThreshold", "bytes", "kMinRoundedSize", 256),
    ("kLargeSplitThreshold", "bytes", "kPoolBoundary", 1_048_576),
    ("kMaxSplitSizeBytes", "bytes", "SIZE_MAX", 18_446_744_073_709_551_615),
    ("kMaxNonSplitRoundingBytes", "bytes", "20971520 (20 MB)", 20_971_520),
];

fn getters(config: &AllocatorConfig) -> [u64; 11] {
    [
        config.pool_boundary_bytes(),
        config.small_segment_bytes(),
        config.medium_segment_bytes(),
        config.medium_threshold_bytes(),
        config.segment_alignment_bytes(),
        config.min_rounded_bytes(),
        u64::from(config.roundup_power2_divisions()),
        config.small_split_threshold_bytes(),
        config.large_split_threshold_bytes(),
        config.max_split_bytes(),
        config.max_non_split_rounding_bytes(),
    ]
}

#[test]
fn every_key_of_the_reference_has_its_type_and_default() {
    let config = AllocatorConfig::default();
    for (idx, (name, kind, default, number)) in REFERENCE.into_iter().enumerate() {
        let key = ConfigKey::ALL[idx];
        assert_eq!(key.name(), name);
        assert_eq!(key.kind(), if kind == "int" { KeyKind::Integer } else { KeyKind::Bytes }, "{name}");
        let (rule, source) = match ConfigKey::by_name(default) {
            Some(leader) => (DefaultRule::Follows(leader), Source::Follows(leader)),
            None => (DefaultRule::Plain(number), Source::Default),
        };
        assert_eq!(key.default_rule(), rule, "{name}");
        assert_eq!(config.source(key), source, "{name}");
        assert_eq!(config.get(key), number, "{name}");
        assert_eq!(getters(&config)[idx], number, "{name}");
        assert!(key.check(number).is_ok(), "{name}");
        assert_eq!(key.index(), idx);
    }
}

#[test]
fn each_getter_reads_the_key_of_its_name() {
    for (idx, key) in ConfigKey::ALL.into_iter().enumerate() {
        let config = AllocatorConfig::default().with(key, 32).unwrap();
        assert_eq!(getters(&config)[idx], 32, "{key}");
        assert_eq!(config.get(key), 32, "{key}");
        assert_eq!(config.source(key), Source::Code, "{key}");
    }
}

#[test]
fn names_are_read_back_exactly() {
    for key in ConfigKey::ALL {
        assert_eq!(key.to_string().parse(), Ok(key));
        assert!(key.documentation().ends_with('.'), "{key}");
        assert!(key.name().to_lowercase().parse::<ConfigKey>().is_err());
    }
    assert_eq!(format!("{:>15}|", ConfigKey::PoolBoundary), "  kPoolBoundary|");
    let error = "kpoolboundary".parse::<ConfigKey>().unwrap_err();
    assert_eq!(error.to_string(), "unknown key `kpoolboundary`; did you mean `kPoolBoundary`?");
    assert_eq!("".parse::<ConfigKey>().unwrap_err().to_string(), "unknown key ``");
}

#[track_caller]
fn check(key: ConfigKey, value: u64, expected: Result<(), &str>) {
    let result = key.check(value);
    assert_eq!(key.range().contains(value), expected.is_ok());
    assert_eq!(result.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
}

#[test]
fn ranges_hold_at_their_ends() {
    check(ConfigKey::RoundupPower2Divisions, 0, Err("kRoundupPower2Divisions: 0 is outside 1..=64"));
    check(ConfigKey::RoundupPower2Divisions, 1, Ok(()));
    check(ConfigKey::RoundupPower2Divisions, 3, Ok(()));
    check(ConfigKey::RoundupPower2Divisions, 64, Ok(()));
    check(ConfigKey::RoundupPower2Divisions, 65, Err("kRoundupPower2Divisions: 65 is outside 1..=64"));
    check(ConfigKey::SegmentAlignment, 0, Err("kSegmentAlignment: 0 is not a power of two"));
    check(ConfigKey::SegmentAlignment, 1, Ok(()));
    check(ConfigKey::SegmentAlignment, 3, Err("kSegmentAlignment: 3 is not a power of two"));
    check(ConfigKey::SegmentAlignment, 1 << 63, Ok(()));
    for key in ConfigKey::ALL {
        if !matches!(key, ConfigKey::RoundupPower2Divisions | ConfigKey::SegmentAlignment) {
            check(key, 0, Ok(()));
            check(key, u64::MAX, Ok(()));
        }
    }
}

#[test]
fn errors_carry_the_numbers() {
    let error = AllocatorConfig::default().with(ConfigKey::RoundupPower2Divisions, 1 << 40).unwrap_err();
    let (key, value) = (ConfigKey::RoundupPower2Divisions, 1 << 40);
    assert_eq!(error, ConfigError::OutOfRange { key, value, minimum: 1, maximum: 64 });
}
