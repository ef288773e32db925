//! The figures of the driver's host memory.

use super::DRIVER_CLASSES;

/// What the driver has, has handed out and has refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverStatistics {
    /// The classes of the reserve, smallest first.
    pub classes: [DriverClassStatistics; DRIVER_CLASSES],
    /// Host memory in use, from the kernel and from the reserve.
    pub occupied_bytes: u64,
    /// Requests that the kernel served.
    pub n_from_kernel: u64,
    /// Requests that the reserve served after the kernel had refused.
    pub n_from_reserve: u64,
    /// Requests that nobody served.
    pub n_failed: u64,
}

/// One class of the reserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverClassStatistics {
    /// Bytes of one page.
    pub page_bytes: u64,
    /// Pages that the parameters ask for.
    pub requested_pages: u64,
    /// Pages that the kernel gave.
    pub pages: u64,
    /// Bytes of live chunks.
    pub allocated_bytes: u64,
    /// Bytes that no chunk has.
    pub free_bytes: u64,
    /// The largest request that the class can serve now.
    pub largest_free_bytes: u64,
}

impl DriverStatistics {
    /// Returns the bytes of all pages of the reserve. O(1).
    #[must_use]
    pub fn reserved_bytes(&self) -> u64 {
        self.classes.iter().map(|class| class.page_bytes * class.pages).sum()
    }

    /// Returns whether every class has the pages it asked for. O(1).
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.classes.iter().all(|class| class.pages == class.requested_pages)
    }
}
