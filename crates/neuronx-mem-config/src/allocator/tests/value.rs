//! Spellings of a number that are refused, and the number that each probably meant.

use crate::ConfigKey::*;
use crate::{AllocatorConfig, ConfigKey, Finding};

#[track_caller]
fn check(key: ConfigKey, text: &str, kind: &str, expected: Option<u64>) {
    let parsed = AllocatorConfig::parse(&format!("{key}={text}"));
    assert_eq!(parsed.config, AllocatorConfig::default(), "{text:?}");
    let [finding] = parsed.findings.as_slice() else {
        panic!("one finding for {text:?}: {:?}", parsed.findings)
    };
    assert_eq!(finding.kind(), kind, "{text:?}");
    let meant = match finding {
        Finding::SizeSuffix { meant, .. } | Finding::NotDecimal { meant, .. } => *meant,
        _ => None,
    };
    assert_eq!(meant, expected, "{text:?}");
}

#[test]
fn suffixes_name_the_plain_number() {
    let cases = [
        ("1MB", Some(1_048_576)),
        ("1mb", Some(1_048_576)),
        ("1MiB", Some(1_048_576)),
        ("1M", Some(1_048_576)),
        ("64m", Some(67_108_864)),
        ("1 MB", Some(1_048_576)),
        ("1k", Some(1024)),
        ("1KiB", Some(1024)),
        ("1.5GB", Some(1_610_612_736)),
        ("1.50GB", Some(1_610_612_736)),
        ("0.5k", Some(512)),
        ("2.k", Some(2048)),
        ("2TiB", Some(2_199_023_255_552)),
        ("1PB", Some(1_125_899_906_842_624)),
        ("256B", Some(256)),
        ("256 bytes", Some(256)),
        ("0MB", Some(0)),
        ("16383PiB", Some(18_445_618_173_802_708_992)),
    ];
    for (text, expected) in cases {
        check(PoolBoundary, text, "size_suffix", expected);
    }
}

#[test]
fn nothing_is_guessed_when_the_number_is_not_exact() {
    check(PoolBoundary, "1.1k", "size_suffix", None);
    check(PoolBoundary, "0.3MB", "size_suffix", None);
    check(PoolBoundary, "1.5B", "size_suffix", None);
    check(PoolBoundary, "16384PiB", "size_suffix", None);
    check(PoolBoundary, "18446744073709551616k", "size_suffix", None);
    check(PoolBoundary, "18446744073709551615.999999999999999999PB", "size_suffix", None);
    check(PoolBoundary, "0.0000000000000000001GB", "size_suffix", None);
    check(PoolBoundary, "1.2.3MB", "size_suffix", None);
}

#[test]
fn a_guess_must_be_valid_for_the_key() {
    check(SegmentAlignment, "2MB", "size_suffix", Some(2_097_152));
    check(SegmentAlignment, "3MB", "size_suffix", None);
    check(RoundupPower2Divisions, "+8", "not_decimal", Some(8));
    check(RoundupPower2Divisions, "0x41", "not_decimal", None);
    check(RoundupPower2Divisions, "4k", "not_decimal", None);
    check(RoundupPower2Divisions, "4B", "not_decimal", None);
}

#[test]
fn only_decimal_digits_are_numbers() {
    let cases = [
        ("+5", Some(5)),
        ("-5", None),
        ("-0", None),
        ("0x10", Some(16)),
        ("0X10", Some(16)),
        ("0x+1", None),
        ("0x", None),
        ("1_000", Some(1000)),
        ("1e6", None),
        ("1.0", None),
        (".5", None),
        (".5MB", None),
        ("1 000", None),
        ("MB", None),
        ("5 apples", None),
        ("\u{663}", None),
        ("１", None),
        ("1\0", None),
        ("\"5\"", None),
        ("_", None),
        ("SIZE_MAX", Some(u64::MAX)),
        ("kMinRoundedSize", None),
    ];
    for (text, expected) in cases {
        check(PoolBoundary, text, "not_decimal", expected);
    }
}

#[test]
fn sixty_four_bits_are_the_limit() {
    check(PoolBoundary, "18446744073709551616", "overflow", None);
    check(RoundupPower2Divisions, "99999999999999999999", "overflow", None);
    let parsed = AllocatorConfig::parse("kMaxSplitSizeBytes=18446744073709551615,kMinRoundedSize=000512");
    assert_eq!(parsed.findings, []);
    assert_eq!(parsed.config.max_split_bytes(), u64::MAX);
    assert_eq!(parsed.config.min_rounded_bytes(), 512);
}
