//! The figures of a pool.

/// What a pool has, has handed out and has refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostPoolStatistics {
    /// Requests that were served.
    pub allocations: u64,
    /// Requests that were not.
    pub failures: u64,
    /// The largest request that was not served.
    pub largest_failed_bytes: u64,
    /// Requests that were served with several chunks.
    pub split_allocations: u64,
    /// The chunks of those.
    pub split_chunks: u64,
    /// Allocations that are live.
    pub live_allocations: u64,
    /// Bytes that they asked for.
    pub live_bytes: u64,
    /// The most of those at once.
    pub peak_live_bytes: u64,
    /// Bytes from the source.
    pub reserved_bytes: u64,
    /// Bytes of these that are free.
    pub free_bytes: u64,
    /// The largest extent that is free.
    pub largest_free_bytes: u64,
    /// Pages and runs that the source gave, the reserve included.
    pub growths: u64,
    /// Calls that the source refused.
    pub failed_growths: u64,
    /// The classes, smallest page first.
    pub classes: Vec<HostClassStatistics>,
}

/// One class of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostClassStatistics {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Pages that the policy reserves.
    pub reserve_pages: u64,
    /// Pages there are.
    pub pages: u64,
    /// Bytes that are free.
    pub free_bytes: u64,
    /// The largest extent that is free.
    pub largest_free_bytes: u64,
}
