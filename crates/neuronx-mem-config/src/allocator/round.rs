//! Rounding of a request, for the one check that needs it.
//!
//! The real rounding is a crate of its own, which a leaf must not use. A test of the workspace
//! asserts that this function equals it. Here the arithmetic is wide instead of fast, so nothing
//! overflows and nothing needs an error.

use super::config::AllocatorConfig;

/// Returns the rounded size of a request, in bytes (allocator semantics §2).
///
/// Zero stays zero. A result above `u64::MAX` is what the rounding crate reports as an overflow.
/// Not part of the public interface; visible for the test that compares it with the rounding crate.
pub fn round_size(requested_bytes: u64, config: &AllocatorConfig) -> u128 {
    if requested_bytes == 0 {
        return 0;
    }
    if requested_bytes < config.min_rounded_bytes() {
        return u128::from(config.min_rounded_bytes());
    }
    if requested_bytes >= config.medium_threshold_bytes() {
        return u128::from(requested_bytes);
    }
    let floor = 1_u128 << requested_bytes.ilog2();
    let excess = u128::from(requested_bytes) - floor;
    if excess == 0 {
        return floor;
    }
    // The smallest k with ceil(floor * k / N) >= excess is the smallest with
    // floor * k / N > excess - 1, as `excess` is whole.
    let divisions = u128::from(config.roundup_power2_divisions());
    let steps = (excess - 1) * divisions / floor + 1;
    floor + (floor * steps).div_ceil(divisions)
}
