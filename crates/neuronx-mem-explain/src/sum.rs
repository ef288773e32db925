//! Adding bytes up that a file made up.

/// The sum, or the largest number when it does not fit.
pub(crate) fn sum(bytes: impl IntoIterator<Item = u64>) -> u64 {
    bytes.into_iter().fold(0, u64::saturating_add)
}
