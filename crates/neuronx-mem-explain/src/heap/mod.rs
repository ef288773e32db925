//! One device's memory at one moment, with what is known of each block. Plain data, from a replayed
//! trace or from a snapshot; judges nothing.

mod replayed;
mod snapshot;

use std::ops::Range;

use neuronx_mem::fragmentation::{BlockUse, Pool};
use neuronx_mem_snapshot::{StackId, StackTable};

pub use replayed::{Moment, Replayed};

use crate::SiteFrame;

/// The memory of one device.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Heap {
    /// Segments in order of address.
    pub segments: Vec<HeapSegment>,
    /// Device memory, capped, bytes; `None` when nobody said.
    pub total_bytes: Option<u64>,
    /// Free bytes of the device outside the segments; `None` when nobody said.
    pub device_free_bytes: Option<u64>,
    /// Addresses that segments can come from; `None` when the runtime cannot tell.
    pub address_range: Option<Range<u64>>,
    pub(crate) table: StackTable,
    /// The marks of a trace, with their events.
    pub(crate) marks: Vec<(u64, Box<str>)>,
}

/// One segment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapSegment {
    /// First address.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// The pool it serves.
    pub pool: Pool,
    /// The stream whose requests it serves; `None` when it serves all.
    pub stream: Option<u64>,
    /// Whether it belongs to a private pool, which ordinary requests never use.
    pub is_private: bool,
    /// Its blocks in order of address.
    pub blocks: Vec<HeapBlock>,
}

/// One block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapBlock {
    /// First address.
    pub address: u64,
    /// Bytes it occupies.
    pub bytes: u64,
    /// Bytes its owner asked for; 0 when free.
    pub requested_bytes: u64,
    /// What it is doing.
    pub state: BlockUse,
    /// The stream it was allocated on; 0 when free.
    pub stream: u64,
    /// Where it was allocated, in the heap's table; empty when that is not known.
    pub stack: StackId,
    /// Its birth; `None` for a free block and for one older than the history.
    pub birth: Option<Birth>,
}

/// When a block was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Birth {
    /// The event that allocated it, from 1.
    pub event: u64,
    /// Events since, up to the moment looked at.
    pub age_events: u64,
    /// Time since, microseconds, where the input has times.
    pub age_us: Option<u64>,
}

impl Heap {
    /// The frames of a block's stack, innermost first.
    #[must_use]
    pub fn frames(&self, block: &HeapBlock) -> Vec<SiteFrame> {
        SiteFrame::of_stack(&self.table, block.stack)
    }

    /// The phase of the program that a block was allocated in: the mark of a trace before it.
    #[must_use]
    pub fn phase(&self, block: &HeapBlock) -> &str {
        let born = block.birth.map_or(0, |birth| birth.event);
        let n_before = self.marks.partition_point(|(event, _)| *event <= born);
        n_before.checked_sub(1).map_or("", |idx| &self.marks[idx].1)
    }

    /// Bytes of all segments.
    #[must_use]
    pub fn reserved_bytes(&self) -> u64 {
        self.segments.iter().fold(0, |sum, segment| sum.saturating_add(segment.bytes))
    }

    /// Bytes of the blocks in a state.
    #[must_use]
    pub fn bytes_in(&self, state: BlockUse) -> u64 {
        self.segments.iter().fold(0, |sum, segment| sum.saturating_add(segment.bytes_in(state)))
    }

    /// Bytes of segments that `empty_cache` would give back at once. Private pools keep theirs.
    #[must_use]
    pub fn releasable_bytes(&self) -> u64 {
        let is_idle = |segment: &&HeapSegment| !segment.is_private && segment.pinning().next().is_none();
        let idle = self.segments.iter().filter(is_idle);
        idle.fold(0, |sum, segment| sum.saturating_add(segment.bytes))
    }

    /// The segments with the most free bytes behind live blocks first; those without any left out.
    #[must_use]
    pub fn most_pinned(&self) -> Vec<&HeapSegment> {
        let is_pinned =
            |segment: &&HeapSegment| segment.pinning().next().is_some() && segment.free_bytes() > 0;
        let mut segments: Vec<&HeapSegment> = self.segments.iter().filter(is_pinned).collect();
        segments.sort_by_key(|segment| (std::cmp::Reverse(segment.free_bytes()), segment.address));
        segments
    }
}

impl HeapSegment {
    /// The live and pending blocks: without them the segment could be released.
    pub fn pinning(&self) -> impl Iterator<Item = &HeapBlock> {
        self.blocks.iter().filter(|block| block.state != BlockUse::Free)
    }

    /// Bytes of live and pending blocks.
    #[must_use]
    pub fn live_bytes(&self) -> u64 {
        self.pinning().fold(0, |sum, block| sum.saturating_add(block.bytes))
    }

    /// Bytes of free blocks.
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        self.bytes_in(BlockUse::Free)
    }

    fn bytes_in(&self, state: BlockUse) -> u64 {
        let blocks = self.blocks.iter().filter(|block| block.state == state);
        blocks.fold(0, |sum, block| sum.saturating_add(block.bytes))
    }
}
