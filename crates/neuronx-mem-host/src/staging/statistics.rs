//! The figures of a staging allocator.

/// What a staging allocator has done, and has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StagingStatistics {
    /// Requests that were served.
    pub allocations: u64,
    /// Of these, the ones that a cache had a block for.
    pub hits: u64,
    /// Requests that were not served.
    pub failures: u64,
    /// Blocks that came back.
    pub frees: u64,
    /// Blocks that are out.
    pub live_blocks: u64,
    /// Bytes that they were asked for.
    pub live_bytes: u64,
    /// Bytes that they have.
    pub held_bytes: u64,
    /// Bytes of blocks in the caches.
    pub cached_bytes: u64,
    /// Bytes from the source.
    pub reserved_bytes: u64,
    /// Runs that the source gave.
    pub growths: u64,
    /// Times that the caches were emptied because nothing else was left.
    pub flushes: u64,
}

impl StagingStatistics {
    /// Returns the bytes of live blocks that nobody asked for. O(1).
    #[must_use]
    pub const fn waste_bytes(&self) -> u64 {
        self.held_bytes.saturating_sub(self.live_bytes)
    }
}
