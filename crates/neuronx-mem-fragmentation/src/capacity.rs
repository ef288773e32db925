//! The largest request each pool could serve: now, once queued deallocations have run, and after
//! `empty_cache`. Ignores rounding and split limits, which only the allocator knows.

use crate::regions::Outside;
use crate::{BlockUse, DeviceLayout, Pool, SegmentLayout};

/// What one pool can serve at three moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Capacity {
    /// As things are.
    pub now: Servable,
    /// Once all queued deallocations have run.
    pub after_pending_frees: Servable,
    /// After that and `empty_cache`.
    pub after_empty_cache: Servable,
}

/// The largest request, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Servable {
    /// From a cached block of the pool.
    pub cached_bytes: u64,
    /// From a cached block or a new segment.
    pub largest_bytes: u64,
}

impl Capacity {
    pub(crate) fn of(layout: &DeviceLayout, pool: Pool) -> Self {
        let held: Vec<(u64, u64)> = layout.segments.iter().map(|s| (s.address, s.bytes())).collect();
        let gap_now = Outside::of(layout, &held).largest_bytes();
        let kept: Vec<(u64, u64)> =
            layout.segments.iter().filter(|s| !is_idle(s)).map(|s| (s.address, s.bytes())).collect();
        let gap_later = Outside::of(layout, &kept).largest_bytes();
        let limit = match pool {
            Pool::Small => layout.pool_boundary_bytes.saturating_sub(1),
            Pool::Large => u64::MAX,
        };
        let servable = |cached: u64, gap: u64| Servable {
            cached_bytes: cached.min(limit),
            largest_bytes: cached.max(gap).min(limit),
        };
        let segments = || layout.segments.iter().filter(|s| s.pool == pool);
        let largest_run = |segments: &mut dyn Iterator<Item = &SegmentLayout>,
                           is_free: fn(BlockUse) -> bool| {
            segments.map(|s| longest_run(s, is_free)).max().unwrap_or(0)
        };
        let is_free_now = |state| state == BlockUse::Free;
        let is_free_later = |state| state != BlockUse::Live;
        Self {
            now: servable(largest_run(&mut segments(), is_free_now), gap_now),
            after_pending_frees: servable(largest_run(&mut segments(), is_free_later), gap_now),
            after_empty_cache: servable(
                largest_run(&mut segments().filter(|s| !is_idle(s)), is_free_later),
                gap_later,
            ),
        }
    }
}

/// Whether `empty_cache` would release the segment: nothing in it is live.
pub(crate) fn is_idle(segment: &SegmentLayout) -> bool {
    segment.blocks.iter().all(|block| block.state != BlockUse::Live)
}

/// The longest run of blocks that are free by `is_free`, bytes: they merge.
fn longest_run(segment: &SegmentLayout, is_free: fn(BlockUse) -> bool) -> u64 {
    let mut longest = 0;
    let mut run = 0u64;
    for block in &segment.blocks {
        run = if is_free(block.state) { run.saturating_add(block.extent_bytes) } else { 0 };
        longest = longest.max(run);
    }
    longest
}
