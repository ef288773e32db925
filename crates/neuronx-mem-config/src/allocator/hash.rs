//! The stable hash behind [`AllocatorConfig::hash64`](super::AllocatorConfig::hash64).
//!
//! Written out because the hashers of the standard library promise no stable result.

const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a, 64 bits, over each value as eight little-endian bytes.
pub(super) fn fnv1a_64(values: impl Iterator<Item = u64>) -> u64 {
    let mut hash = OFFSET_BASIS;
    for value in values {
        for byte in value.to_le_bytes() {
            hash ^= u64::from(byte);
            hash = hash.wrapping_mul(PRIME);
        }
    }
    hash
}
