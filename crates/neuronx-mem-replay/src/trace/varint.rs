//! Numbers in as many bytes as they need: seven bits a byte, low ones first.

/// Appends a number: 1 to 10 bytes.
#[inline]
pub(super) fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    #[expect(clippy::cast_possible_truncation, reason = "below 128")]
    bytes.push(value as u8);
}

/// Takes a number from the front; `None` when it is not whole.
#[inline]
pub(super) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    let mut shift = 0;
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        shift += 7;
    }
}

/// Distance from `base` to `value`, small for both directions.
#[inline]
pub(super) fn distance(base: u64, value: u64) -> u64 {
    let difference = value.wrapping_sub(base).cast_signed();
    ((difference << 1) ^ (difference >> 63)).cast_unsigned()
}

/// The value at a [`distance`] from `base`.
#[inline]
pub(super) fn at_distance(base: u64, distance: u64) -> u64 {
    let difference = (distance >> 1) ^ (distance & 1).wrapping_neg();
    base.wrapping_add(difference)
}
