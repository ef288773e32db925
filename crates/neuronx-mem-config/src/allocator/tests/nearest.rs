//! Which known key a wrong name stands for, and the distance underneath.

use super::super::nearest::{edit_distance, nearest_key};
use crate::ConfigKey::{self, *};

#[track_caller]
fn check(name: &str, expected: Option<ConfigKey>) {
    assert_eq!(nearest_key(name), expected, "{name:?}");
}

#[test]
fn slips_find_their_key() {
    check("kPoolBoundry", Some(PoolBoundary));
    check("PoolBoundary", Some(PoolBoundary));
    check("KPOOLBOUNDARY", Some(PoolBoundary));
    check("pool_boundary", Some(PoolBoundary));
    check("kSmallSegmentsize", Some(SmallSegmentSize));
    check("kMaxSplitSize", Some(MaxSplitSizeBytes));
    check("max_split_size_mb", Some(MaxSplitSizeBytes));
    check("roundup_power2_divisions", Some(RoundupPower2Divisions));
    check("kMinRoundSize", Some(MinRoundedSize));
    check("kSegmentAlignement", Some(SegmentAlignment));
}

#[test]
fn every_key_is_nearest_to_itself() {
    for key in ConfigKey::ALL {
        check(key.name(), Some(key));
    }
}

#[test]
fn strangers_find_nothing() {
    check("", None);
    check("k", None);
    check("___", None);
    check("foo", None);
    check("garbage_collection_threshold", None);
    check(&"kPoolBoundary".repeat(1000), None);
}

#[track_caller]
fn check_distance(left: &str, right: &str, expected: usize) {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    assert_eq!(edit_distance(&left, &right), expected);
    assert_eq!(edit_distance(&right, &left), expected);
}

#[test]
fn distances_count_edits() {
    check_distance("", "", 0);
    check_distance("", "abc", 3);
    check_distance("kitten", "sitting", 3);
    check_distance("flaw", "lawn", 2);
    check_distance("same", "same", 0);
}
