//! The rules of the text format, one table per rule.

use super::{config, lines};
use crate::ConfigKey::*;
use crate::{AllocatorConfig, ConfigKey, Finding};

/// Checks the values that a text sets and the kinds of its findings.
#[track_caller]
fn check(text: &str, items: &[(ConfigKey, u64)], kinds: &[&str]) {
    let parsed = AllocatorConfig::parse(text);
    assert_eq!(parsed.config, config(items), "{text:?}");
    let found: Vec<&str> = parsed.findings.iter().map(Finding::kind).collect();
    assert_eq!(found, kinds, "{text:?}");
}

#[test]
fn the_examples_of_the_reference_parse_cleanly() {
    check(
        "kMaxSplitSizeBytes=536870912,kMaxNonSplitRoundingBytes=67108864",
        &[(MaxSplitSizeBytes, 536_870_912), (MaxNonSplitRoundingBytes, 67_108_864)],
        &[],
    );
    check("kRoundupPower2Divisions=8", &[(RoundupPower2Divisions, 8)], &[]);
}

#[test]
fn a_blank_text_is_the_default_without_findings() {
    check("", &[], &[]);
    check("   ", &[], &[]);
    check("\n\t", &[], &[]);
}

#[test]
fn empty_items_are_findings() {
    check(",", &[], &["empty_item", "empty_item"]);
    check("kMinRoundedSize=512,", &[(MinRoundedSize, 512)], &["empty_item"]);
    check(",kMinRoundedSize=512", &[(MinRoundedSize, 512)], &["empty_item"]);
    check(
        "kMinRoundedSize=512, ,kMediumThreshold=2097152",
        &[(MinRoundedSize, 512), (MediumThreshold, 2_097_152)],
        &["empty_item"],
    );
}

#[test]
fn white_space_is_trimmed_with_a_finding() {
    let expected = [(MinRoundedSize, 512)];
    check(" kMinRoundedSize=512", &expected, &["white_space"]);
    check("kMinRoundedSize=512\n", &expected, &["white_space"]);
    check("kMinRoundedSize = 512", &expected, &["white_space"]);
    check("\u{a0}kMinRoundedSize\t=\u{3000}512 ", &expected, &["white_space"]);
    check("kMinRoundedSize=5 12", &[], &["not_decimal"]);
}

#[test]
fn items_without_key_value_or_equals_are_ignored() {
    check("kMinRoundedSize", &[], &["missing_equals"]);
    check("kMinRoundedSize:512", &[], &["missing_equals"]);
    check("=512", &[], &["missing_key"]);
    check("=", &[], &["missing_key"]);
    check("kMinRoundedSize=", &[], &["empty_value"]);
    check("kMinRoundedSize==512", &[], &["equals_in_value"]);
    check("kMinRoundedSize=512 kPoolBoundary=4096", &[], &["equals_in_value"]);
    check("kMinRoundedSize=512;kPoolBoundary=4096", &[], &["equals_in_value"]);
}

#[test]
fn unknown_keys_are_ignored() {
    check("kNoSuchThing=1,kMinRoundedSize=512", &[(MinRoundedSize, 512)], &["unknown_key"]);
    check("KMINROUNDEDSIZE=512", &[], &["unknown_key"]);
    check("kMinRoundedSize\0=512", &[], &["unknown_key"]);
}

#[test]
fn values_out_of_range_are_ignored() {
    check("kRoundupPower2Divisions=0", &[], &["out_of_range"]);
    check("kRoundupPower2Divisions=65", &[], &["out_of_range"]);
    check("kRoundupPower2Divisions=4294967297", &[], &["out_of_range"]);
    check("kRoundupPower2Divisions=3", &[(RoundupPower2Divisions, 3)], &[]);
    check("kSegmentAlignment=0", &[], &["not_power_of_two"]);
    check("kSegmentAlignment=3000000", &[], &["not_power_of_two"]);
    check("kSegmentAlignment=4194304", &[(SegmentAlignment, 4_194_304)], &[]);
}

#[test]
fn the_last_good_value_of_a_key_wins() {
    check("kMinRoundedSize=512,kMinRoundedSize=1024", &[(MinRoundedSize, 1024)], &["duplicate"]);
    check(
        "kMinRoundedSize=512,kMinRoundedSize=1024,kMinRoundedSize=64",
        &[(MinRoundedSize, 64)],
        &["duplicate", "duplicate"],
    );
    check("kMinRoundedSize=512,kMinRoundedSize=512", &[(MinRoundedSize, 512)], &["duplicate"]);
    // A bad item is as if it were absent, wherever it stands.
    check("kMinRoundedSize=512,kMinRoundedSize=1k", &[(MinRoundedSize, 512)], &["size_suffix"]);
    check("kMinRoundedSize=1k,kMinRoundedSize=512", &[(MinRoundedSize, 512)], &["size_suffix"]);
    check("kSegmentAlignment=4096,kSegmentAlignment=3", &[(SegmentAlignment, 4096)], &["not_power_of_two"]);
}

#[test]
fn a_duplicate_names_both_places() {
    let text = "kMinRoundedSize=512,kMinRoundedSize=x,kMinRoundedSize=64,kMinRoundedSize=8";
    let findings = AllocatorConfig::parse(text).findings;
    let duplicate = |replaced, value, replaced_position, position| Finding::Duplicate {
        key: MinRoundedSize,
        replaced,
        value,
        replaced_position,
        position,
    };
    assert_eq!(findings[1..], [duplicate(512, 64, 0..19, 38..56), duplicate(64, 8, 38..56, 57..74)]);
}

#[test]
fn followers_do_not_depend_on_the_order_of_items() {
    check(
        "kSmallSplitThreshold=128,kMinRoundedSize=512",
        &[(MinRoundedSize, 512), (SmallSplitThreshold, 128)],
        &[],
    );
    check("kMinRoundedSize=512", &[(MinRoundedSize, 512), (SmallSplitThreshold, 512)], &[]);
}

#[test]
fn messages_read_well() {
    let items = [
        "kPoolBoundary=1MB",
        " kMinRoundedSize = 512",
        "",
        "kMinRoundedSize",
        "=5",
        "kMinRoundSize=1",
        "bogus=1",
        "kMinRoundedSize=",
        "kMinRoundedSize=1=2",
        "kMinRoundedSize=0x10",
        "kMinRoundedSize=1e6",
        "kMinRoundedSize=18446744073709551616",
        "kRoundupPower2Divisions=65",
        "kSegmentAlignment=3",
        "kMinRoundedSize=64",
        "kMaxSplitSizeBytes=1048576",
    ];
    insta::assert_snapshot!(lines(&items.join(",")), @r"
    Error size_suffix 14..17 kPoolBoundary: `1MB` is ignored because sizes are plain bytes without a suffix; 1048576 was probably meant
    Warning white_space 18..40 ` kMinRoundedSize = 512`: white space around the key or the value is trimmed
    Warning empty_item 41..41 the item at byte 41 is empty
    Error missing_equals 42..57 `kMinRoundedSize` is ignored because it has no `=`; items are key=value
    Error missing_key 58..60 `=5` is ignored because it has no key before `=`
    Error unknown_key 61..74 unknown key `kMinRoundSize` is ignored; did you mean `kMinRoundedSize`?
    Error unknown_key 77..82 unknown key `bogus` is ignored
    Error empty_value 85..101 kMinRoundedSize: the item is ignored because it has no value
    Error equals_in_value 118..121 kMinRoundedSize: `1=2` is ignored because it contains `=`; items are separated by commas
    Error not_decimal 138..142 kMinRoundedSize: `0x10` is ignored because it is not a plain decimal number; 16 was probably meant
    Error not_decimal 159..162 kMinRoundedSize: `1e6` is ignored because it is not a plain decimal number
    Error overflow 179..199 kMinRoundedSize: `18446744073709551616` is ignored because it is above 18446744073709551615
    Error out_of_range 224..226 kRoundupPower2Divisions: 65 is ignored because it is outside 1..=64
    Error not_power_of_two 245..246 kSegmentAlignment: 3 is ignored because it is not a power of two
    Warning duplicate 247..265 kMinRoundedSize is given more than once: 512 is replaced by 64
    Warning dangerous_combination - kMaxSplitSizeBytes (1048576) is below kMediumSegmentSize (67108864): free blocks of a medium segment above it serve only requests of almost their size
    ");
}

#[test]
fn positions_are_bytes_of_the_text() {
    let text = "é=1, kMinRoundedSize = 1k ,,ü";
    let parsed = AllocatorConfig::parse(text);
    let quoted: Vec<&str> =
        parsed.findings.iter().map(|finding| &text[finding.position().unwrap()]).collect();
    assert_eq!(quoted, ["é", " kMinRoundedSize = 1k ", "1k", "", "ü"]);
}
