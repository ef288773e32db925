//! A block without its buffer: for holders that cannot have a lifetime, such as a foreign runtime.

use super::class::SizeClass;

/// A block of a [`super::StagingAllocator`] that is nobody's buffer. It goes back by
/// [`super::StagingAllocator::attach`]; dropping it leaves the memory taken until the allocator is dropped.
#[derive(Debug)]
#[must_use = "dropping it leaves the memory taken"]
pub struct StagingBlock {
    pub(super) owner: u64,
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) class: SizeClass,
}

impl StagingBlock {
    /// Returns the address of the first byte; it is good as long as the allocator lives. O(1).
    #[must_use]
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// Returns the bytes asked for. O(1).
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}
