//! What each move of the pool reports: the numbers that statistics and history need. Plain values.

use crate::{BlockId, PoolKind, SegmentId};

/// How a move changed the inactive split blocks: free blocks that share their segment with
/// another block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SplitChange {
    /// Change of their number.
    pub blocks: i64,
    /// Change of their bytes.
    pub bytes: i64,
}

/// A block that now serves a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Handle to free it by.
    pub id: BlockId,
    /// First device address; a multiple of 64.
    pub address: u64,
    /// Bytes that count as allocated: the rounded size, or all of the block when it was handed
    /// out unsplit.
    pub block_bytes: u64,
    /// Bytes that the block occupies; at most 63 above `block_bytes`.
    pub extent_bytes: u64,
    /// Effect on the inactive split blocks.
    pub split: SplitChange,
}

/// A block that has just become free, as it was while live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freed {
    /// The pool it belongs to.
    pub kind: PoolKind,
    /// Bytes its owner had asked for.
    pub requested_bytes: u64,
    /// Bytes that counted as allocated.
    pub block_bytes: u64,
    /// Bytes that it occupied.
    pub extent_bytes: u64,
    /// Effect on the inactive split blocks.
    pub split: SplitChange,
}

/// A segment that has left the pool and can be given back to the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReleasedSegment {
    /// Its name while it was held.
    pub id: SegmentId,
    /// The pool it belonged to.
    pub kind: PoolKind,
    /// First device address.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// The word it was added with.
    pub tag: u64,
}

impl SplitChange {
    /// The front of a free block went, `rest` bytes stay free.
    #[inline]
    pub(crate) fn of_cut(was_split: bool, extent: u64, rest: u64) -> Self {
        let before = if was_split { extent } else { 0 };
        Self { blocks: i64::from(!was_split), bytes: rest.wrapping_sub(before).cast_signed() }
    }

    /// All of a free block went.
    #[inline]
    pub(crate) fn of_whole(was_split: bool, extent: u64) -> Self {
        if was_split {
            Self { blocks: -1, bytes: extent.wrapping_neg().cast_signed() }
        } else {
            Self::default()
        }
    }

    /// Free neighbours, their number and bytes, went into one free block of `extent` bytes, which
    /// is split or a whole segment.
    #[inline]
    pub(crate) fn of_merge(gone: (i64, u64), is_split: bool, extent: u64) -> Self {
        let after = if is_split { extent } else { 0 };
        Self { blocks: i64::from(is_split) - gone.0, bytes: after.wrapping_sub(gone.1).cast_signed() }
    }
}
