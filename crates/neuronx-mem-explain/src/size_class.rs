//! Size classes coarse enough to compare runs by: one a doubling.

use std::fmt;

use neuronx_mem::stats::format_size;

/// Sizes from a power of two up to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeClass(u8);

impl SizeClass {
    /// The class of a size; no bytes have one of their own.
    ///
    /// ```
    /// use neuronx_mem_explain::SizeClass;
    ///
    /// assert_eq!(SizeClass::of(1 << 20), SizeClass::of((2 << 20) - 1));
    /// assert_ne!(SizeClass::of(1 << 20), SizeClass::of(2 << 20));
    /// ```
    #[must_use]
    pub const fn of(bytes: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "64 at most")]
        Self((u64::BITS - bytes.leading_zeros()) as u8)
    }

    /// The smallest size of the class, bytes.
    #[must_use]
    pub const fn floor_bytes(self) -> u64 {
        if self.0 == 0 { 0 } else { 1 << (self.0 - 1) }
    }
}

impl fmt::Display for SizeClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0 B"),
            _ => write!(f, "from {}", format_size(self.floor_bytes())),
        }
    }
}
