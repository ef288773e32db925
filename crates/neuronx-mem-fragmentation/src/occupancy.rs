//! Segment by segment: how full it is, and which blocks keep it from being released. Lists; the
//! choice of what to free is the reader's.

use neuronx_mem_snapshot::StackId;

use crate::{BlockUse, Pool, SegmentLayout};

/// One segment of an analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SegmentOccupancy {
    /// First address.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// The pool it serves.
    pub pool: Pool,
    /// Block bytes of live and pending blocks.
    pub allocated_bytes: u64,
    /// What their owners asked for.
    pub active_bytes: u64,
    /// Block bytes of pending blocks alone.
    pub pending_bytes: u64,
    /// Bytes of free blocks.
    pub cached_free_bytes: u64,
    /// Largest free block.
    pub largest_free_bytes: u64,
    /// The live and pending blocks, in order of address: without them the segment could be
    /// released.
    pub pinning: Vec<PinningBlock>,
}

/// A block that keeps its segment from being released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PinningBlock {
    /// First address.
    pub address: u64,
    /// Bytes it occupies.
    pub extent_bytes: u64,
    /// Bytes its owner asked for.
    pub requested_bytes: u64,
    /// Live, or only waiting for its deallocation.
    pub state: BlockUse,
    /// Where it was allocated, in the table of the snapshot that it comes from.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub stack: Option<StackId>,
}

impl SegmentOccupancy {
    pub(crate) fn of(segment: &SegmentLayout) -> Self {
        let mut occupancy = Self {
            address: segment.address,
            bytes: segment.bytes(),
            pool: segment.pool,
            allocated_bytes: 0,
            active_bytes: 0,
            pending_bytes: 0,
            cached_free_bytes: 0,
            largest_free_bytes: 0,
            pinning: Vec::new(),
        };
        for (address, block) in segment.placed() {
            if block.is_free() {
                occupancy.cached_free_bytes = occupancy.cached_free_bytes.saturating_add(block.extent_bytes);
                occupancy.largest_free_bytes = occupancy.largest_free_bytes.max(block.extent_bytes);
                continue;
            }
            occupancy.allocated_bytes = occupancy.allocated_bytes.saturating_add(block.allocated_bytes);
            occupancy.active_bytes = occupancy.active_bytes.saturating_add(block.requested_bytes);
            if block.state == BlockUse::PendingFree {
                occupancy.pending_bytes = occupancy.pending_bytes.saturating_add(block.allocated_bytes);
            }
            occupancy.pinning.push(PinningBlock {
                address,
                extent_bytes: block.extent_bytes,
                requested_bytes: block.requested_bytes,
                state: block.state,
                stack: block.stack,
            });
        }
        occupancy
    }

    /// Bytes that its pinning blocks occupy.
    #[must_use]
    pub fn pinned_by_bytes(&self) -> u64 {
        self.bytes - self.cached_free_bytes
    }
}
