//! The plain default values, from the table of the environment variables reference.
//!
//! Knows numbers only. The two defaults that follow another key are rules, not numbers, and live in
//! the specification of their key.

/// 1 MiB.
pub(super) const POOL_BOUNDARY_BYTES: u64 = 1 << 20;
/// 2 MiB.
pub(super) const SMALL_SEGMENT_BYTES: u64 = 2 << 20;
/// 64 MiB.
pub(super) const MEDIUM_SEGMENT_BYTES: u64 = 64 << 20;
/// 16 MiB.
pub(super) const MEDIUM_THRESHOLD_BYTES: u64 = 16 << 20;
/// 2 MiB.
pub(super) const SEGMENT_ALIGNMENT_BYTES: u64 = 2 << 20;
/// 256 B.
pub(super) const MIN_ROUNDED_BYTES: u64 = 256;
/// Steps between two powers of two.
pub(super) const ROUNDUP_POWER2_DIVISIONS: u32 = 4;
/// Unlimited: the reference writes `SIZE_MAX`, which is 64 bits wide on every Neuron host.
pub(super) const MAX_SPLIT_BYTES: u64 = u64::MAX;
/// 20 MiB.
pub(super) const MAX_NON_SPLIT_ROUNDING_BYTES: u64 = 20 << 20;
