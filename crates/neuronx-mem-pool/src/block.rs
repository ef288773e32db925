//! One block record and its handle. Knows its own fields, not its neighbours' nor its index.

use std::fmt;

use crate::PoolKind;

/// The slot of no block: end of a list, empty tree. A real record stands there (see `slab.rs`),
/// never free, so that links can be followed and written without asking first.
pub(crate) const NONE: u32 = 0;

/// Names one block from allocation to free; copyable, and safe to keep too long.
///
/// A slot in the slab and the slot's generation: a handle that outlives its block is refused,
/// never mistaken for another block (until a slot has been freed 2^32 times).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId {
    /// Slot above, generation below: one word, so that a handle is stored and loaded at once. In
    /// two halves a reader of the whole waits for both stores to reach the cache.
    word: u64,
}

impl BlockId {
    #[inline]
    pub(crate) const fn new(slot: u32, generation: u32) -> Self {
        Self { word: ((slot as u64) << 32) | generation as u64 }
    }

    /// The slot: dense from 1, reused, so callers can keep side tables by it.
    #[must_use]
    #[inline]
    pub const fn slot(self) -> u32 {
        (self.word >> 32) as u32
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is taken on purpose")]
    pub(crate) const fn generation(self) -> u32 {
        self.word as u32
    }

    /// Packs the handle into one number, generation above and slot below, for callers that pass it through C.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        self.word.rotate_left(32)
    }

    /// Unpacks [`to_bits`](Self::to_bits). Any number is a handle; most are stale.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self { word: bits.rotate_left(32) }
    }
}

impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.slot(), self.generation())
    }
}

/// What a block is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockState {
    /// Cached: any request of its pool may take it.
    Free,
    /// Held by a tensor.
    Live,
    /// Freed by its owner; the deallocation waits for work on its streams. Counts as live.
    PendingFree,
}

/// One cache line for everything the hot path touches of a block.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Block {
    /// Place on the pool's number line, on which segments stand in order of age: comparing
    /// positions compares (segment age, offset). See `segment.rs`.
    pub(crate) position: u64,
    /// Bytes from here to the next block.
    pub(crate) extent: u64,
    /// Bytes the tensor asked for. Stale while free.
    pub(crate) requested: u64,
    /// The caller's word for this block; opaque here. Stale while free.
    pub(crate) tag: u64,
    /// Physical neighbours inside the segment.
    pub(crate) prev: u32,
    pub(crate) next: u32,
    /// Children in the free index while free; `right` chains spare records.
    pub(crate) left: u32,
    pub(crate) right: u32,
    pub(crate) segment: u32,
    /// Raised each time the block stops being live.
    pub(crate) generation: u32,
    pub(crate) state: State,
    /// The pool of its segment.
    pub(crate) kind: PoolKind,
    /// Its bin while it is in one.
    pub(crate) bin: u16,
    /// `extent` minus the bytes that count as allocated; below 64. Zero while free.
    pub(crate) padding: u8,
}

const _: () = assert!(size_of::<Block>() == 64);

/// [`BlockState`] plus the state of a record that stands for no block at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Spare,
    Free,
    Live,
    PendingFree,
}

impl Block {
    pub(crate) const SPARE: Self = Self {
        position: 0,
        extent: 0,
        requested: 0,
        tag: 0,
        prev: NONE,
        next: NONE,
        left: NONE,
        right: NONE,
        segment: NONE,
        generation: 0,
        state: State::Spare,
        kind: PoolKind::Small,
        bin: 0,
        padding: 0,
    };

    /// The order of the free index: smallest first, then older segment, then lower offset.
    #[inline]
    pub(crate) fn key(&self) -> u128 {
        // One wide number compares in two instructions and no branch.
        (u128::from(self.extent) << 64) | u128::from(self.position)
    }

    /// Whether it shares its segment with another block.
    #[inline]
    pub(crate) fn is_split(&self) -> bool {
        self.prev | self.next != NONE
    }

    /// Bytes that count as allocated.
    #[inline]
    pub(crate) fn block_bytes(&self) -> u64 {
        self.extent - u64::from(self.padding)
    }
}
