//! What a caller can get wrong, with the numbers. Running out of cached memory is not an error
//! here: it is `None`, and the caller grows the pool.

use crate::BlockId;

/// A request or handle that the pool refuses. The pool is unchanged after any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// The block or segment for this request does not fit 64 bits.
    #[error("request of {requested_bytes} bytes is too large to round")]
    SizeOverflow {
        /// Bytes asked for.
        requested_bytes: u64,
    },
    /// A request for no bytes needs no block.
    #[error("request of 0 bytes has no block")]
    ZeroBytes,
    /// The block is free already, or its deallocation is queued already.
    #[error("block {id} is freed twice")]
    DoubleFree {
        /// The handle that was freed again.
        id: BlockId,
    },
    /// The handle's block has been freed and its record has moved on.
    #[error("block handle {id} is stale")]
    StaleHandle {
        /// The handle.
        id: BlockId,
    },
    /// The block's deallocation is not queued.
    #[error("block {id} has no queued deallocation")]
    NotPending {
        /// The handle.
        id: BlockId,
    },
    /// A new segment is smaller than the block it was taken for.
    #[error("segment of {segment_bytes} bytes cannot hold a block of {extent_bytes} bytes")]
    SegmentTooSmall {
        /// Bytes of the segment.
        segment_bytes: u64,
        /// Bytes that the block occupies.
        extent_bytes: u64,
    },
    /// A new segment's addresses are not free in this pool, or wrap around.
    #[error("segment at {address:#x} of {segment_bytes} bytes overlaps another or wraps")]
    SegmentOverlap {
        /// First address of the new segment.
        address: u64,
        /// Bytes of the new segment.
        segment_bytes: u64,
    },
    /// A new segment does not start on a multiple of 64 bytes.
    #[error("segment address {address:#x} is not a multiple of 64")]
    UnalignedSegment {
        /// First address of the new segment.
        address: u64,
    },
    /// All 2^32 - 1 record slots are taken.
    #[error("no block record is left")]
    OutOfRecords,
}
