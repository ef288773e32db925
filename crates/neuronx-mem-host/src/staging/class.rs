//! Size classes: multiples of 64 bytes up to 1 KiB, then eight to a doubling.

use crate::HostError;

/// The most that one request may have.
const LIMIT_BYTES: u64 = 1 << 47;

/// Blocks from here on start at a page.
#[cfg(test)]
pub(super) const PAGED_BYTES: u64 = 32 << 10;

/// The size of a block, as an index: what a request is rounded up to.
///
/// No block is more than an eighth larger than its request, from requests of 512 bytes on.
///
/// ```
/// use neuronx_mem_host::SizeClass;
///
/// let rounded = |bytes| SizeClass::of(bytes).map(SizeClass::bytes);
/// assert_eq!(rounded(1)?, 64);
/// assert_eq!(rounded((1 << 20) + 1)?, 1_179_648); // and not 2 MiB
/// assert_eq!(rounded(4 << 30)?, 4 << 30);
/// # Ok::<(), neuronx_mem_host::HostError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeClass(u16);

impl SizeClass {
    /// The number of classes.
    pub(super) const COUNT: usize = 8 + (47 - 9) * 8;

    /// The classes up to 1 MiB.
    pub(super) const SMALL_COUNT: usize = 8 + (20 - 9) * 8;

    /// Returns the class of a request. O(1).
    ///
    /// # Errors
    ///
    /// [`HostError::InvalidSize`] for 0 bytes or more than 2^47.
    #[inline]
    pub const fn of(bytes: u64) -> Result<Self, HostError> {
        if bytes == 0 || bytes > LIMIT_BYTES {
            return Err(HostError::InvalidSize { requested_bytes: bytes, limit_bytes: LIMIT_BYTES });
        }
        let last = bytes - 1;
        if last < 512 {
            return Ok(Self::at((last / 64) as usize));
        }
        let doubling = last.ilog2();
        let step = (last >> (doubling - 3)) & 7;
        Ok(Self::at(8 + (doubling as usize - 9) * 8 + step as usize))
    }

    /// Returns the bytes of a block. O(1).
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> u64 {
        let index = self.0 as u64;
        if index < 8 {
            return (index + 1) * 64;
        }
        let doubling = (index - 8) / 8 + 9;
        (9 + index % 8) << (doubling - 3)
    }

    /// The position among all classes.
    #[inline]
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }

    /// The class at a position below [`Self::COUNT`].
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "there are 312 classes")]
    pub(super) const fn at(index: usize) -> Self {
        debug_assert!(index < Self::COUNT);
        Self(index as u16)
    }
}
