//! The cheapest segments to empty so that a new one fits the device. Knows gaps and segments; where
//! addresses are unknown, only how much memory comes back.

use neuronx_mem::fragmentation::BlockUse;

use super::cost::{Cost, Least};
use super::cover::{Cover, Item};
use super::{Need, Release, ServedBy, is_held};
use crate::heap::{Heap, HeapSegment};
use crate::sum::sum;

/// Segments to give back, as positions in the heap.
struct Emptied {
    segments: Vec<usize>,
    /// No choice costs less.
    bound: u64,
}

/// The cheapest set of segments whose release makes room for the request's own; `None` when the device
/// is too small for it.
pub(super) fn cheapest(heap: &Heap, need: &Need, least: Least) -> Option<Release> {
    if heap.total_bytes.is_some_and(|total| total < need.segment_bytes) {
        return None;
    }
    let emptied = match &heap.address_range {
        Some(range) => run_of_addresses(heap, range.start, range.end, need, least),
        None => sum_of_segments(heap, need, least),
    }?;
    let segments = || emptied.segments.iter().map(|idx| &heap.segments[*idx]);
    let mut blocks: Vec<_> = segments().flat_map(HeapSegment::pinning).copied().collect();
    let waits = blocks.iter().any(|block| block.state == BlockUse::PendingFree);
    blocks.retain(is_held);
    let bytes = sum(blocks.iter().map(|block| block.bytes));
    let serves_by = ServedBy::NewSegment { n_segments: emptied.segments.len() };
    Some(Release { serves_by, blocks, bytes, bound: emptied.bound, waits })
}

/// What lies side by side on the device.
struct Place {
    bytes: u64,
    cost: Cost,
    /// `None` for a gap.
    segment_idx: Option<usize>,
}

/// The cheapest run of gaps and segments that is long enough. Exact. O(segments).
fn run_of_addresses(heap: &Heap, start: u64, end: u64, need: &Need, least: Least) -> Option<Emptied> {
    let places = places(heap, start, end, least);
    let mut best: Option<(Cost, usize, usize)> = None;
    let (mut last, mut bytes, mut cost) = (0, 0_u64, Cost::default());
    for first in 0..places.len() {
        if first > 0 {
            bytes = bytes.saturating_sub(places[first - 1].bytes);
            cost = cost.minus(places[first - 1].cost);
        }
        while last < places.len() && bytes < need.segment_bytes {
            bytes = bytes.saturating_add(places[last].bytes);
            cost = cost.plus(places[last].cost);
            last += 1;
        }
        if bytes >= need.segment_bytes && best.is_none_or(|(least, ..)| cost < least) {
            best = Some((cost, first, last));
        }
    }
    let (cost, first, last) = best?;
    let segments = places[first..last].iter().filter_map(|place| place.segment_idx).collect();
    Some(Emptied { segments, bound: cost.first })
}

fn places(heap: &Heap, start: u64, end: u64, least: Least) -> Vec<Place> {
    let mut places = Vec::new();
    let mut next = start;
    let gap = |from: u64, to: u64| {
        let bytes = to.saturating_sub(from);
        (bytes > 0).then_some(Place { bytes, cost: Cost::default(), segment_idx: None })
    };
    for (idx, segment) in heap.segments.iter().enumerate() {
        places.extend(gap(next, segment.address));
        let cost = Cost::of_blocks(&segment.blocks, least);
        places.push(Place { bytes: segment.bytes, cost, segment_idx: Some(idx) });
        next = segment.address.saturating_add(segment.bytes);
    }
    places.extend(gap(next, end));
    places
}

/// The cheapest segments that add up to what is missing.
fn sum_of_segments(heap: &Heap, need: &Need, least: Least) -> Option<Emptied> {
    let room = heap.device_free_bytes.unwrap_or(0);
    let missing = need.segment_bytes.saturating_sub(room);
    // Private pools keep theirs.
    let shared: Vec<usize> = (0..heap.segments.len()).filter(|idx| !heap.segments[*idx].is_private).collect();
    let item = |idx: &usize| {
        let segment = &heap.segments[*idx];
        Item { bytes: segment.bytes, cost: Cost::of_blocks(&segment.blocks, least) }
    };
    let items: Vec<Item> = shared.iter().map(item).collect();
    let Cover { items, bound } = Cover::cheapest(&items, missing)?;
    Some(Emptied { segments: items.into_iter().map(|idx| shared[idx]).collect(), bound })
}
