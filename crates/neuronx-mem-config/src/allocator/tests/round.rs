//! The rounding formula against the numbers of allocator semantics §2 and a plain search.

use super::super::round::round_size;
use super::config;
use crate::AllocatorConfig;
use crate::ConfigKey::*;

#[track_caller]
fn check(requested: u64, expected: u128) {
    assert_eq!(round_size(requested, &AllocatorConfig::default()), expected);
}

#[test]
fn the_expected_sizes_of_the_semantics() {
    const MIB: u64 = 1 << 20;
    check(0, 0);
    check(1, 256);
    check(256, 256);
    check(257, 320);
    check(321, 384);
    check(1000, 1024);
    check(1025, 1280);
    check(5 * MIB, 5 << 20);
    check(5 * MIB + 1, 6 << 20);
    check(16 * MIB - 1, 16 << 20);
    check(16 * MIB, 16 << 20);
    check(16 * MIB + 1, (16 << 20) + 1);
    check(u64::MAX, u128::from(u64::MAX));
}

/// The definition read literally: try every step.
fn searched(requested: u64, divisions: u64) -> u128 {
    let floor = 1_u128 << (63 - requested.leading_zeros());
    let sizes =
        (0..=u128::from(divisions)).map(|step| floor + (floor * step).div_ceil(u128::from(divisions)));
    sizes.into_iter().find(|&size| size >= u128::from(requested)).unwrap()
}

#[test]
fn the_closed_form_is_the_smallest_step() {
    for divisions in [1, 2, 3, 4, 5, 7, 8, 31, 33, 63, 64] {
        let items = [(MinRoundedSize, 0), (MediumThreshold, u64::MAX), (RoundupPower2Divisions, divisions)];
        let config = config(&items);
        let near_the_end = [u64::MAX - 1, (1 << 63) - 1, 1 << 63, (1 << 63) + 1];
        for requested in (1..3000).chain(near_the_end) {
            assert_eq!(
                round_size(requested, &config),
                searched(requested, divisions),
                "{requested} / {divisions}"
            );
        }
    }
}
