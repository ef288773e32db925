//! The driver's module parameters, as far as they shape host memory.

use super::{DRIVER_CLASSES, SMALLEST_DRIVER_PAGE_BYTES};
use crate::{HostError, PAGE_BYTES};

/// `mempool_min_alloc_size` and `mempool_host_memory_size`, at their defaults unless set.
///
/// ```
/// use neuronx_mem_host::DriverParameters;
///
/// let parameters = DriverParameters::default();
/// assert_eq!(parameters.reserve_bytes(), 128 << 20); // four classes of 32 MiB
/// assert_eq!(parameters.class_pages(), [128, 64, 32, 16]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverParameters {
    /// The unit in which a page of the reserve is divided; a multiple of [`PAGE_BYTES`].
    pub min_alloc_bytes: u64,
    /// Host memory that is reserved for each class, not for all of them.
    pub host_memory_bytes: u64,
}

impl Default for DriverParameters {
    fn default() -> Self {
        Self { min_alloc_bytes: PAGE_BYTES, host_memory_bytes: 32 << 20 }
    }
}

impl DriverParameters {
    /// Sets the bytes of each class. O(1).
    #[must_use]
    pub const fn with_host_memory_bytes(mut self, bytes: u64) -> Self {
        self.host_memory_bytes = bytes;
        self
    }

    /// Sets the unit in which pages are divided. O(1).
    #[must_use]
    pub const fn with_min_alloc_bytes(mut self, bytes: u64) -> Self {
        self.min_alloc_bytes = bytes;
        self
    }

    /// Returns the pages of each class, smallest class first; bytes that fill no page are lost. O(1).
    #[must_use]
    pub fn class_pages(&self) -> [u64; DRIVER_CLASSES] {
        std::array::from_fn(|idx| self.host_memory_bytes / (SMALLEST_DRIVER_PAGE_BYTES << idx))
    }

    /// Returns the bytes of a reserve that was built in full. O(1).
    #[must_use]
    pub fn reserve_bytes(&self) -> u64 {
        let class = |(idx, pages): (usize, u64)| pages * (SMALLEST_DRIVER_PAGE_BYTES << idx);
        self.class_pages().into_iter().enumerate().map(class).sum()
    }

    /// The unit as the driver uses it: the power of two below.
    pub(super) const fn unit_bytes(&self) -> u64 {
        1 << self.min_alloc_bytes.ilog2()
    }

    pub(crate) fn check(&self) -> Result<(), HostError> {
        let is_multiple = self.min_alloc_bytes.is_multiple_of(PAGE_BYTES);
        if self.min_alloc_bytes == 0 || !is_multiple || self.min_alloc_bytes > SMALLEST_DRIVER_PAGE_BYTES {
            return Err(HostError::InvalidPolicy {
                name: "mempool_min_alloc_size",
                value: self.min_alloc_bytes,
                reason: "a multiple of 4096 up to the smallest class, 262144",
            });
        }
        // The parameter is an `int`.
        if self.host_memory_bytes > i32::MAX as u64 {
            return Err(HostError::InvalidPolicy {
                name: "mempool_host_memory_size",
                value: self.host_memory_bytes,
                reason: "at most 2147483647 bytes for each class",
            });
        }
        Ok(())
    }
}
