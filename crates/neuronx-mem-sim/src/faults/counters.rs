//! How often each fault struck, and what it holds. Counts, decides nothing.

/// What the faults of a device did so far. All zero without a plan, a model or a closed runtime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultCounters {
    /// Segment requests that the plan made fail.
    pub allocations_failed: u64,
    /// Returns of segments that the plan made fail.
    pub frees_failed: u64,
    /// Requests for slices that the plan made fail.
    pub slices_failed: u64,
    /// Returns of slices that the plan made fail.
    pub slice_frees_failed: u64,
    /// Readings of the memory that the plan made fail.
    pub memory_infos_failed: u64,
    /// Segment requests refused for 4 GiB or more.
    pub overflows_refused: u64,
    /// Calls before the runtime was initialised or after it was closed.
    pub calls_refused_by_state: u64,
    /// Times that the noisy neighbour's memory grew or shrank.
    pub neighbour_moves: u64,
    /// Bytes that the noisy neighbour holds now, beside a constant half at LNC 1.
    pub neighbour_bytes: u64,
    /// Times that the runtime grew by the plan, also where no memory was left for it.
    pub growths: u64,
    /// Bytes that this growth holds now.
    pub growth_bytes: u64,
    /// Models loaded.
    pub models_loaded: u64,
    /// Models for which there was no gap.
    pub models_refused: u64,
    /// Bytes of loaded models now.
    pub model_bytes: u64,
    /// Segments whose memory did not come back at once.
    pub slow_frees: u64,
    /// Bytes of them that are not back yet; part of the bytes held.
    pub slow_bytes: u64,
    /// Bytes that pinholes hold.
    pub pinhole_bytes: u64,
    /// Segments that the allocator still held when the runtime was closed.
    pub segments_closed: u64,
}
