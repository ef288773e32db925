//! What would serve a request without giving any tensor up: nothing at all, a wait, `empty_cache`,
//! or both.

use std::collections::BTreeSet;

use neuronx_mem::fragmentation::BlockUse;

use super::Need;
use crate::heap::{Heap, HeapBlock, HeapSegment};
use crate::sum::sum;

/// Which of the allocator's own means serve a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remedies {
    /// A cached block, or the device's free memory, serves it now.
    pub now: bool,
    /// The largest free block that the request may take, bytes.
    pub largest_free_bytes: u64,
    /// The streams with queued deallocations, ascending.
    pub streams: Vec<Waiting>,
    /// Once all queued deallocations have run.
    pub after_waiting: bool,
    /// After `empty_cache`, with no wait.
    pub after_empty_cache: bool,
    /// After all queued deallocations have run, and `empty_cache`: what recovery from
    /// out-of-memory does.
    pub after_both: bool,
    /// Bytes of segments that `empty_cache` gives back once nothing is queued.
    pub empty_cache_bytes: u64,
}

/// One stream with queued deallocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waiting {
    /// The stream, as the input numbers it.
    pub stream: u64,
    /// Bytes of blocks that were allocated on it and wait for their deallocation.
    pub pending_bytes: u64,
    /// Whether waiting for it alone serves the request.
    pub serves: bool,
}

impl Remedies {
    /// Tries each. O(blocks · streams with queued deallocations).
    #[must_use]
    pub fn of(heap: &Heap, need: &Need) -> Self {
        let now = |block: &HeapBlock| block.state == BlockUse::Free;
        let settled = |block: &HeapBlock| block.state != BlockUse::Live;
        let pending =
            || heap.segments.iter().flat_map(|s| &s.blocks).filter(|b| b.state == BlockUse::PendingFree);
        let streams: BTreeSet<u64> = pending().map(|block| block.stream).collect();
        let waiting = |stream: u64| Waiting {
            stream,
            pending_bytes: sum(pending().filter(|block| block.stream == stream).map(|block| block.bytes)),
            serves: serves(
                heap,
                need,
                &|block| now(block) || (settled(block) && block.stream == stream),
                false,
            ),
        };
        let largest = heap.segments.iter().filter(|segment| need.is_served_by(segment));
        Self {
            now: serves(heap, need, &now, false),
            largest_free_bytes: largest.flat_map(|segment| runs(segment, &now)).max().unwrap_or(0),
            streams: streams.into_iter().map(waiting).collect(),
            after_waiting: serves(heap, need, &settled, false),
            after_empty_cache: serves(heap, need, &now, true),
            after_both: serves(heap, need, &settled, true),
            empty_cache_bytes: sum(idle(heap, &settled).map(|segment| segment.bytes)),
        }
    }
}

type IsFree<'a> = &'a dyn Fn(&HeapBlock) -> bool;

/// Whether the request is served when these blocks are free, perhaps after `empty_cache`.
fn serves(heap: &Heap, need: &Need, is_free: IsFree<'_>, empties_cache: bool) -> bool {
    let mut served_by = heap.segments.iter().filter(|segment| need.is_served_by(segment));
    served_by.any(|segment| runs(segment, is_free).any(|bytes| need.admits(bytes)))
        || largest_room(heap, is_free, empties_cache) >= need.segment_bytes
}

/// Sizes of the free blocks of a segment; neighbours merge.
fn runs<'a>(segment: &'a HeapSegment, is_free: IsFree<'a>) -> impl Iterator<Item = u64> + 'a {
    segment
        .blocks
        .chunk_by(move |a, b| is_free(a) && is_free(b))
        .filter(move |run| run.first().is_some_and(is_free))
        .map(|run| run.iter().fold(0_u64, |sum, block| sum.saturating_add(block.bytes)))
}

fn idle<'a>(heap: &'a Heap, is_free: IsFree<'a>) -> impl Iterator<Item = &'a HeapSegment> {
    heap.segments.iter().filter(move |segment| !segment.is_private && segment.blocks.iter().all(is_free))
}

/// The largest region of the device that a new segment could take.
fn largest_room(heap: &Heap, is_free: IsFree<'_>, empties_cache: bool) -> u64 {
    let Some(range) = &heap.address_range else {
        let room = heap.device_free_bytes.unwrap_or(0);
        let given_back = sum(idle(heap, is_free).map(|segment| segment.bytes));
        return if empties_cache { room.saturating_add(given_back) } else { room };
    };
    let mut largest = 0;
    let mut next = range.start;
    for segment in &heap.segments {
        if empties_cache && segment.blocks.iter().all(is_free) {
            continue;
        }
        largest = largest.max(segment.address.saturating_sub(next));
        next = segment.address.saturating_add(segment.bytes);
    }
    largest.max(range.end.saturating_sub(next))
}
