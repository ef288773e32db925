//! The documented numbers of size rounding, and the rule against a definition-shaped oracle.

use neuronx_mem_rounding::{InvalidScheme, RoundingScheme};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

/// Allocator semantics §2, word for word: try every k.
fn oracle(min: u64, divisions: u64, threshold: u64, n: u64) -> Option<u64> {
    if n < min {
        return Some(min);
    }
    if n >= threshold {
        return Some(n);
    }
    let floor = 1u128 << n.ilog2();
    let divisions = u128::from(divisions);
    let class = (0..=divisions)
        .map(|k| floor + (floor * k).div_ceil(divisions))
        .find(|class| *class >= u128::from(n))
        .expect("k = N gives the next power of two");
    u64::try_from(class).ok()
}

#[track_caller]
fn check(scheme: RoundingScheme, cases: &[(u64, u64)]) {
    for (request, rounded) in cases {
        assert_eq!(scheme.round(*request), Some(*rounded), "round({request})");
    }
}

#[test]
fn semantics_2_expected_values() {
    check(
        RoundingScheme::DEFAULT,
        &[
            (1, 256),
            (256, 256),
            (257, 320),
            (320, 320),
            (321, 384),
            (1000, 1024),
            (1025, 1280),
            (5 * MIB, 5 * MIB),
            (5 * MIB + 1, 6 * MIB),
            (16 * MIB - 1, 16 * MIB),
            (16 * MIB, 16 * MIB),
            (16 * MIB + 1, 16 * MIB + 1),
        ],
    );
}

#[test]
fn semantics_2_class_counts() {
    let count = |divisions| RoundingScheme::new(256, divisions, 16 * MIB).unwrap().classes().count();
    assert_eq!((count(4), count(8), count(1)), (65, 129, 17));
}

#[test]
fn zero_and_floor() {
    check(RoundingScheme::DEFAULT, &[(0, 256)]);
    check(RoundingScheme::new(0, 4, 16 * MIB).unwrap(), &[(1, 1), (2, 2), (3, 3), (5, 5), (9, 10)]);
    // The floor wins over a threshold below it.
    check(
        RoundingScheme::new(4096, 4, 1024).unwrap(),
        &[(1, 4096), (2000, 4096), (4096, 4096), (4097, 4097)],
    );
}

#[test]
fn divisions_need_not_be_a_power_of_two() {
    // F = 1024, N = 3: steps at 1024 + 342, + 683, + 1024.
    check(
        RoundingScheme::new(1, 3, 16 * MIB).unwrap(),
        &[(1025, 1366), (1366, 1366), (1367, 1707), (1708, 2048)],
    );
}

#[test]
fn top_of_the_range_is_none_not_a_wrap() {
    let scheme = RoundingScheme::new(256, 1, u64::MAX).unwrap();
    assert_eq!(scheme.round(1 << 63), Some(1 << 63));
    assert_eq!(scheme.round((1 << 63) + 1), None);
    assert_eq!(scheme.round(u64::MAX - 1), None);
    assert_eq!(scheme.round(u64::MAX), Some(u64::MAX));
    assert_eq!(scheme.class_index(u64::MAX - 1), None);
    assert_eq!(scheme.classes().last(), Some(1 << 63));
    let odd = RoundingScheme::new(256, 3, u64::MAX).unwrap();
    assert_eq!(odd.round(u64::MAX - 1), None);
}

#[test]
fn divisions_out_of_range() {
    assert_eq!(RoundingScheme::new(256, 0, 1), Err(InvalidScheme { divisions: 0 }));
    let error = RoundingScheme::new(256, 65, 1).unwrap_err();
    assert_eq!(error.to_string(), "65 divisions between powers of two: expected 1 to 64");
}

#[test]
fn worst_case_is_the_worst_of_all_requests() {
    for divisions in [1, 3, 4, 7, 64] {
        let scheme = RoundingScheme::new(100, divisions, 5000).unwrap();
        let worst = scheme.worst_case().unwrap();
        let ratio = |n: u64| (scheme.waste_bytes(n).unwrap() as f64) / (n as f64);
        let expected = (100..5000).map(ratio).fold(0.0, f64::max);
        assert_eq!(worst.ratio(), expected, "N = {divisions}");
        assert!(worst.ratio() < 1.0 / f64::from(divisions));
        assert_eq!(scheme.round(worst.request_bytes), Some(worst.rounded_bytes));
    }
    assert_eq!(RoundingScheme::new(4096, 4, 1024).unwrap().worst_case(), None);
}

#[test]
fn class_index_names_the_class_for_every_request() {
    for (min, divisions, threshold) in [
        (256, 4, 9000),
        (1, 1, 3000),
        (300, 4, 3000),
        (1, 64, 2000),
        (7, 3, 1500),
        (1000, 5, 4),
        (33, 17, 5000),
    ] {
        let scheme = RoundingScheme::new(min, divisions, threshold).unwrap();
        let classes: Vec<u64> = scheme.classes().collect();
        assert!(classes.is_sorted_by(|a, b| a < b), "{scheme:?}");
        for n in 1..threshold.max(min) + 10 {
            let expected = scheme.is_classed(n).then(|| scheme.round(n).unwrap());
            let got = scheme.class_index(n).map(|i| classes[usize::try_from(i).unwrap()]);
            assert_eq!(got, expected, "{scheme:?} n = {n}");
        }
    }
}

proptest! {
    #[test]
    fn round_equals_the_definition(min in 0u64..5000, divisions in 1u32..=64, shift in 0u32..64, raw: u64, threshold: u64) {
        let n = raw >> shift;
        let scheme = RoundingScheme::new(min, divisions, threshold).unwrap();
        prop_assert_eq!(scheme.round(n), oracle(min.max(1), u64::from(divisions), threshold, n));
    }

    #[test]
    fn rounding_is_monotone_and_idempotent(divisions in 1u32..=64, n in 1u64..1 << 40, m in 1u64..1 << 40) {
        let scheme = RoundingScheme::new(256, divisions, 1 << 39).unwrap();
        let (small, large) = (n.min(m), n.max(m));
        let (a, b) = (scheme.round(small).unwrap(), scheme.round(large).unwrap());
        prop_assert!(a <= b);
        prop_assert_eq!(scheme.round(a), Some(a));
    }
}
