//! What each move of the pool reports: the numbers that statistics and history need. Plain values.

use crate::block::Block;
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
    #[inline]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { blocks: self.blocks + other.blocks, bytes: self.bytes.wrapping_add(other.bytes) }
    }

    #[inline]
    pub(crate) fn between(before: Self, after: Self) -> Self {
        Self { blocks: after.blocks - before.blocks, bytes: after.bytes.wrapping_sub(before.bytes) }
    }
}

/// What a free block adds to the inactive split blocks.
#[inline]
pub(crate) fn split_share(block: &Block) -> SplitChange {
    if block.is_split() { one_block(block.extent) } else { SplitChange::default() }
}

#[inline]
pub(crate) fn one_block(bytes: u64) -> SplitChange {
    SplitChange { blocks: 1, bytes: bytes.cast_signed() }
}
