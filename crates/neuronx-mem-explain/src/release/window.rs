//! The cheapest run of neighbouring blocks of one segment that makes a free block for a request.

use neuronx_mem::fragmentation::BlockUse;

use super::cost::{Cost, Least};
use super::{Need, Release, ServedBy, is_held};
use crate::heap::{Heap, HeapSegment};
use crate::sum::sum;

/// A run of neighbouring blocks, as positions in its segment, free once the live ones are given up.
#[derive(Clone, Copy)]
struct Window {
    segment_idx: usize,
    start: usize,
    end: usize,
    cost: Cost,
}

/// The cheapest over all segments that may serve the request; the first of equals. O(blocks).
pub(super) fn cheapest(heap: &Heap, need: &Need, least: Least) -> Option<Release> {
    let mut best: Option<Window> = None;
    for (segment_idx, segment) in heap.segments.iter().enumerate() {
        if !need.is_served_by(segment) || segment.bytes < need.block_bytes {
            continue;
        }
        for window in windows(segment_idx, segment, need, least) {
            if best.is_none_or(|best| window.cost < best.cost) {
                best = Some(window);
            }
        }
    }
    let window = best?;
    let blocks = &heap.segments[window.segment_idx].blocks[window.start..window.end];
    let given_up: Vec<_> = blocks.iter().filter(|block| is_held(block)).copied().collect();
    let bytes = sum(given_up.iter().map(|block| block.bytes));
    let total = sum(blocks.iter().map(|block| block.bytes));
    let serves_by = ServedBy::CachedBlock { address: blocks[0].address, bytes: total };
    let waits = blocks.iter().any(|block| block.state == BlockUse::PendingFree);
    Some(Release { serves_by, blocks: given_up, bytes, bound: window.cost.first, waits })
}

/// For each first block the shortest window that is large enough: any longer one costs no less. What
/// is free beside a window merges with it, so only windows between live blocks are complete.
fn windows(segment_idx: usize, segment: &HeapSegment, need: &Need, least: Least) -> Vec<Window> {
    let blocks = &segment.blocks;
    let mut windows = Vec::new();
    let (mut end, mut bytes, mut cost) = (0, 0_u64, Cost::default());
    for start in 0..blocks.len() {
        if start > 0 {
            bytes = bytes.saturating_sub(blocks[start - 1].bytes);
            cost = cost.minus(Cost::of_block(&blocks[start - 1], least));
        }
        let is_complete = start == 0 || is_held(&blocks[start - 1]);
        while end < blocks.len() && (bytes < need.block_bytes || !is_held(&blocks[end])) {
            bytes = bytes.saturating_add(blocks[end].bytes);
            cost = cost.plus(Cost::of_block(&blocks[end], least));
            end += 1;
        }
        if is_complete && need.admits(bytes) {
            windows.push(Window { segment_idx, start, end, cost });
        }
    }
    windows
}
