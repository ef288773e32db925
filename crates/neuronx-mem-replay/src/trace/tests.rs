//! The encoding of a trace in memory: the extremes that no reader produces by chance.

use super::varint;

#[track_caller]
fn check_number(value: u64, n_bytes: usize) {
    let mut bytes = Vec::new();
    varint::put(&mut bytes, value);
    assert_eq!(bytes.len(), n_bytes, "{value}");
    let mut rest = bytes.as_slice();
    assert_eq!(varint::take(&mut rest), Some(value));
    assert!(rest.is_empty());
}

#[test]
fn numbers_take_as_many_bytes_as_they_need() {
    check_number(0, 1);
    check_number(127, 1);
    check_number(128, 2);
    check_number(16_383, 2);
    check_number(16_384, 3);
    check_number(u64::from(u32::MAX), 5);
    check_number(u64::MAX, 10);
}

#[test]
fn a_number_that_is_not_whole_is_none() {
    assert_eq!(varint::take(&mut [].as_slice()), None);
    assert_eq!(varint::take(&mut [0x80].as_slice()), None);
    assert_eq!(varint::take(&mut [0x80; 12].as_slice()), None);
}

#[test]
fn distances_are_small_in_both_directions_and_wrap() {
    for (base, value, distance) in [
        (5, 5, 0),
        (5, 4, 1),
        (5, 6, 2),
        (0, u64::MAX, 1),
        (u64::MAX, 0, 2),
        (0, 1 << 63, u64::MAX),
        (3, 1000, 1994),
    ] {
        assert_eq!(varint::distance(base, value), distance, "{base} to {value}");
        assert_eq!(varint::at_distance(base, distance), value, "{base} by {distance}");
    }
}
