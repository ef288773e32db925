//! Sizes as people write them, and as they should not.

use super::{SizeError, parse_size};

#[track_caller]
fn check(text: &str, expected: Result<u64, SizeError>) {
    assert_eq!(parse_size(text), expected, "{text:?}");
}

#[test]
fn sizes_are_exact() {
    check("1", Ok(1));
    check("25769803776", Ok(24 << 30));
    check("24GiB", Ok(24 << 30));
    check("24 GiB", Ok(24 << 30));
    check(" 512MiB ", Ok(512 << 20));
    check("512mib", Ok(512 << 20));
    check("24GB", Ok(24_000_000_000));
    check("1.5GiB", Ok(3 << 29));
    check("1.50KiB", Ok(1536));
    check("2.000", Ok(2));
    check("0.0009765625KiB", Ok(1));
    check("18446744073709551615", Ok(u64::MAX));
    check("9007199254740993B", Ok(9_007_199_254_740_993));
    check("15EiB", Ok(15 << 60));
}

#[test]
fn what_is_no_whole_size_is_refused() {
    check("0", Err(SizeError::Zero));
    check("0GiB", Err(SizeError::Zero));
    check("0.0", Err(SizeError::Zero));
    check("", Err(SizeError::NotASize));
    check("GiB", Err(SizeError::NotASize));
    check("-1", Err(SizeError::NotASize));
    check("+1", Err(SizeError::NotASize));
    check("1e9", Err(SizeError::NotASize));
    check("1,5GiB", Err(SizeError::NotASize));
    check("1.2.3GiB", Err(SizeError::NotASize));
    check(".5GiB", Err(SizeError::NotASize));
    check("1.", Err(SizeError::NotASize));
    check("24 parsecs", Err(SizeError::NotASize));
    check("٣GiB", Err(SizeError::NotASize));
    check("0.5", Err(SizeError::Fraction));
    check("0.3KiB", Err(SizeError::Fraction));
    check("0.0000000000000000000000000000000000000000001GiB", Err(SizeError::Fraction));
    check("18446744073709551616", Err(SizeError::Overflow));
    check("16EiB", Err(SizeError::Overflow));
    check("99999999999999999999999GiB", Err(SizeError::Overflow));
}
