//! The values of the memory profiling guide's step 3, and what goes beyond them, over one
//! layout. Arithmetic only.

use crate::regions::Outside;
use crate::{Capacity, DeviceLayout, Histogram, Pool, SegmentOccupancy};

/// How fragmented one device's memory is. All sizes in bytes; definitions in allocator semantics
/// §8.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Analysis {
    /// Ordinal of the device.
    pub device: u32,
    /// Device memory, capped.
    pub total_bytes: u64,
    /// Held from the runtime.
    pub reserved_bytes: u64,
    /// Block sizes of live tensors.
    pub allocated_bytes: u64,
    /// What live tensors asked for.
    pub active_bytes: u64,
    /// Part of `allocated_bytes` whose deallocation is queued.
    pub pending_bytes: u64,
    /// Free inside held segments.
    pub cached_free_bytes: u64,
    /// `total - allocated`.
    pub free_bytes: u64,
    /// The largest free block, or gap of the device outside all segments.
    pub largest_free_bytes: u64,
    /// `allocated - active`.
    pub internal_fragmentation_bytes: u64,
    /// Free bytes in neither a cached block nor the largest free region.
    pub external_fragmentation_bytes: u64,
    /// `(internal + external) / free`, 0 to 1.
    pub fragmentation_index: f64,
    /// `reserved / (end of the last segment - start of the first)`; 1 without segments.
    pub memory_density: f64,
    /// The device's address range is unknown: bytes outside the span count as one region.
    pub assumed_contiguous: bool,
    /// Free blocks that share their segment with live ones.
    pub holes: u64,
    /// Their bytes.
    pub hole_bytes: u64,
    /// Segments with nothing live or pending in them.
    pub free_segments: u64,
    /// Their bytes: what `empty_cache` would give back now.
    pub free_segment_bytes: u64,
    /// Largest request of the small pool.
    pub small_pool: Capacity,
    /// Largest request of the large pool.
    pub large_pool: Capacity,
    /// Free blocks of the small pool by size.
    pub small_pool_free_blocks: Histogram,
    /// Free blocks of the large pool by size.
    pub large_pool_free_blocks: Histogram,
    /// Every segment, in order of address.
    pub segments: Vec<SegmentOccupancy>,
}

impl Analysis {
    /// Analyses a layout. O(blocks + segments).
    #[must_use]
    pub fn of(layout: &DeviceLayout) -> Self {
        let segments: Vec<SegmentOccupancy> = layout.segments.iter().map(SegmentOccupancy::of).collect();
        let sum =
            |value: fn(&SegmentOccupancy) -> u64| segments.iter().map(value).fold(0, u64::saturating_add);
        let reserved = sum(|s| s.bytes);
        let allocated = sum(|s| s.allocated_bytes);
        let active = sum(|s| s.active_bytes);
        let cached_free = sum(|s| s.cached_free_bytes);
        let placed: Vec<(u64, u64)> = segments.iter().map(|s| (s.address, s.bytes)).collect();
        let outside = Outside::of(layout, &placed);
        let largest_block = segments.iter().map(|s| s.largest_free_bytes).max().unwrap_or(0);
        let largest_gap = outside.largest_bytes();
        let free = layout.total_bytes.saturating_sub(allocated);
        let usable = cached_free.saturating_add(if largest_gap > largest_block { largest_gap } else { 0 });
        let internal = allocated.saturating_sub(active);
        let external = free.saturating_sub(usable);
        let is_free = |s: &&SegmentOccupancy| s.pinning.is_empty();
        let shared = || segments.iter().zip(&layout.segments).filter(|(s, _)| !s.pinning.is_empty());
        let holes = shared().flat_map(|(_, s)| &s.blocks).filter(|block| block.is_free()).count();
        Self {
            device: layout.device,
            total_bytes: layout.total_bytes,
            reserved_bytes: reserved,
            allocated_bytes: allocated,
            active_bytes: active,
            pending_bytes: sum(|s| s.pending_bytes),
            cached_free_bytes: cached_free,
            free_bytes: free,
            largest_free_bytes: largest_block.max(largest_gap),
            internal_fragmentation_bytes: internal,
            external_fragmentation_bytes: external,
            fragmentation_index: index(internal.saturating_add(external), free),
            memory_density: density(reserved, outside.span_bytes),
            assumed_contiguous: outside.is_assumed,
            holes: holes as u64,
            hole_bytes: shared().map(|(s, _)| s.cached_free_bytes).fold(0, u64::saturating_add),
            free_segments: segments.iter().filter(is_free).count() as u64,
            free_segment_bytes: segments.iter().filter(is_free).map(|s| s.bytes).fold(0, u64::saturating_add),
            small_pool: Capacity::of(layout, Pool::Small),
            large_pool: Capacity::of(layout, Pool::Large),
            small_pool_free_blocks: Histogram::of(layout, Pool::Small),
            large_pool_free_blocks: Histogram::of(layout, Pool::Large),
            segments,
        }
    }

    /// The segments with the most free bytes behind live blocks first; those that have none are
    /// left out.
    #[must_use]
    pub fn most_pinned(&self) -> Vec<&SegmentOccupancy> {
        let mut segments: Vec<&SegmentOccupancy> =
            self.segments.iter().filter(|s| !s.pinning.is_empty() && s.cached_free_bytes > 0).collect();
        segments.sort_by_key(|s| (std::cmp::Reverse(s.cached_free_bytes), s.address));
        segments
    }
}

fn index(fragmented: u64, free: u64) -> f64 {
    match (fragmented, free) {
        (0, _) => 0.0,
        (_, 0) => 1.0,
        _ => (fragmented as f64 / free as f64).min(1.0),
    }
}

fn density(reserved: u64, span: u64) -> f64 {
    if span == 0 { 1.0 } else { (reserved as f64 / span as f64).min(1.0) }
}
