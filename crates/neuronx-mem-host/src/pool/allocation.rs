//! What the pool hands out: one chunk, or a scatter list.

use smallvec::SmallVec;

use super::shadow::ShadowTicket;

/// Memory of a [`super::HostPool`]; goes back with [`super::HostPool::free`], which consumes it, so it
/// cannot go back twice. Dropping it leaves the memory taken until the pool is dropped.
#[derive(Debug)]
#[must_use = "dropping it leaves the memory taken"]
pub struct HostAllocation {
    pub(super) pool_id: u64,
    pub(super) bytes: u64,
    pub(super) chunks: SmallVec<[HostChunk; 1]>,
    pub(super) shadow: ShadowTicket,
}

/// A contiguous part of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostChunk {
    pub(super) address: u64,
    pub(super) bytes: u64,
}

impl HostAllocation {
    /// Returns the bytes asked for. O(1).
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the chunks in the order of the data. Their bytes add up to exactly those asked for. O(1).
    #[must_use]
    pub fn chunks(&self) -> &[HostChunk] {
        &self.chunks
    }

    /// Returns whether one chunk has it all. O(1).
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.chunks.len() == 1
    }

    /// Returns the address of the first byte. O(1).
    #[must_use]
    pub fn address(&self) -> u64 {
        self.chunks.first().map_or(0, |chunk| chunk.address)
    }
}

impl HostChunk {
    /// Returns the address of the first byte, a multiple of the class's granule. O(1).
    #[must_use]
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// Returns the bytes of the request that are in this chunk. O(1).
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}
