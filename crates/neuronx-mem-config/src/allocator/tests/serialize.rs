//! The JSON shapes.

use crate::AllocatorConfig;

#[test]
fn a_configuration_is_a_map_in_the_order_of_the_reference() {
    insta::assert_snapshot!(serde_json::to_string(&AllocatorConfig::default()).unwrap(), @r#"{"kPoolBoundary":1048576,"kSmallSegmentSize":2097152,"kMediumSegmentSize":67108864,"kMediumThreshold":16777216,"kSegmentAlignment":2097152,"kMinRoundedSize":256,"kRoundupPower2Divisions":4,"kSmallSplitThreshold":256,"kLargeSplitThreshold":1048576,"kMaxSplitSizeBytes":18446744073709551615,"kMaxNonSplitRoundingBytes":20971520}"#);
}

#[test]
fn a_finding_is_kind_message_and_key() {
    let findings = AllocatorConfig::parse("kMinRoundedSize=1k,").findings;
    insta::assert_snapshot!(serde_json::to_string(&findings).unwrap(), @r#"[{"kind":"size_suffix","message":"kMinRoundedSize: `1k` is ignored because sizes are plain bytes without a suffix; 1024 was probably meant","key":"kMinRoundedSize"},{"kind":"empty_item","message":"the item at byte 19 is empty","key":null}]"#);
}
