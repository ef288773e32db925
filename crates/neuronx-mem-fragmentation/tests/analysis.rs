//! The analysis against values computed by hand, each test named after what it stages.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_fragmentation::{
    Analysis, BlockLayout, Capacity, DeviceLayout, Pool, SegmentLayout, Servable, SizeClass,
};
use proptest::prelude::*;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn live(bytes: u64) -> BlockLayout {
    BlockLayout::live(bytes, bytes)
}

fn free(bytes: u64) -> BlockLayout {
    BlockLayout::free(bytes)
}

/// Part 1 of the guide's example on a trn2 logical core.
fn guide_example() -> DeviceLayout {
    let segment = SegmentLayout::new(0, Pool::Large, [live(4 * MIB), live(8 * MIB), free(52 * MIB)]);
    DeviceLayout::new(0, 24 * GIB, Some(0..24 * GIB), vec![segment])
}

/// 100 MiB of device, 64 MiB of it held in three segments with gaps of 8, 20 and 8 MiB.
fn fragmented_heap() -> DeviceLayout {
    let small = [
        BlockLayout::live(KIB, 1000),
        free(KIB),
        BlockLayout::pending(2 * KIB, 2 * KIB),
        free(508 * KIB),
        BlockLayout::live(320, 257).with_allocated_bytes(260),
        free(2 * MIB - 512 * KIB - 320),
    ];
    let large = [
        live(10 * MIB),
        free(6 * MIB),
        BlockLayout::pending(4 * MIB, 4 * MIB),
        free(10 * MIB),
        live(2 * MIB),
    ];
    let segments = vec![
        SegmentLayout::new(60 * MIB, Pool::Large, [free(30 * MIB)]),
        SegmentLayout::new(8 * MIB, Pool::Large, large),
        SegmentLayout::new(90 * MIB, Pool::Small, small),
    ];
    DeviceLayout::new(3, 100 * MIB, Some(0..100 * MIB), segments)
}

#[test]
fn profiling_guide_step_3_example() {
    let analysis = Analysis::of(&guide_example());
    assert_eq!((analysis.total_bytes, analysis.reserved_bytes), (24 * GIB, 64 * MIB));
    assert_eq!((analysis.allocated_bytes, analysis.active_bytes), (12 * MIB, 12 * MIB));
    assert_eq!(analysis.cached_free_bytes, 52 * MIB);
    assert_eq!(analysis.free_bytes, 24 * GIB - 12 * MIB);
    // The gap behind the segment is larger than the free block in it.
    assert_eq!(analysis.largest_free_bytes, 24 * GIB - 64 * MIB);
    assert_eq!(analysis.internal_fragmentation_bytes, 0);
    // free - cached - largest gap = 24 GiB - 12 MiB - 52 MiB - (24 GiB - 64 MiB) = 0
    assert_eq!(analysis.external_fragmentation_bytes, 0);
    assert_eq!((analysis.fragmentation_index, analysis.memory_density), (0.0, 1.0));
    assert!(!analysis.assumed_contiguous);
}

#[test]
fn a_fragmented_heap_by_hand() {
    let analysis = Analysis::of(&fragmented_heap());
    assert_eq!(analysis.reserved_bytes, 64 * MIB);
    // live 1 KiB + 260 B + 12 MiB, pending 2 KiB + 4 MiB
    assert_eq!(analysis.allocated_bytes, 16 * MIB + 3 * KIB + 260);
    assert_eq!(analysis.active_bytes, 16 * MIB + 2 * KIB + 1000 + 257);
    assert_eq!(analysis.pending_bytes, 4 * MIB + 2 * KIB);
    assert_eq!(analysis.cached_free_bytes, 48 * MIB - 3 * KIB - 320);
    assert_eq!(analysis.free_bytes, 84 * MIB - 3 * KIB - 260);
    // The free 30 MiB segment beats the gaps of 8, 20 and 8 MiB.
    assert_eq!(analysis.largest_free_bytes, 30 * MIB);
    assert_eq!(analysis.internal_fragmentation_bytes, 24 + 3);
    // 36 MiB of gaps and 60 B of padding lie in neither a cached block nor the largest region.
    assert_eq!(analysis.external_fragmentation_bytes, 36 * MIB + 60);
    let expected = (36.0 * MIB as f64 + 60.0 + 27.0) / (84 * MIB - 3 * KIB - 260) as f64;
    assert_eq!(analysis.fragmentation_index, expected);
    // 64 MiB held between 8 and 92 MiB.
    assert_eq!(analysis.memory_density, 64.0 / 84.0);
    assert_eq!((analysis.holes, analysis.hole_bytes), (5, 18 * MIB - 3 * KIB - 320));
    assert_eq!((analysis.free_segments, analysis.free_segment_bytes), (1, 30 * MIB));
}

#[test]
fn capacities_at_the_three_moments() {
    let analysis = Analysis::of(&fragmented_heap());
    let servable = |cached_bytes, largest_bytes| Servable { cached_bytes, largest_bytes };
    assert_eq!(
        analysis.large_pool,
        Capacity {
            now: servable(30 * MIB, 30 * MIB),
            after_pending_frees: servable(30 * MIB, 30 * MIB),
            // 6 + 4 + 10 MiB merge; the released segment joins its gap of 20 MiB (40 to 90 MiB).
            after_empty_cache: servable(20 * MIB, 50 * MIB),
        }
    );
    let limit = MIB - 1;
    let small = servable(limit, limit); // a request of the small pool is below 1 MiB
    assert_eq!(
        analysis.small_pool,
        Capacity { now: small, after_pending_frees: small, after_empty_cache: small }
    );
}

#[test]
fn histograms_count_free_blocks_by_power_of_two() {
    let analysis = Analysis::of(&fragmented_heap());
    let class = |floor_bytes, blocks, bytes| SizeClass { floor_bytes, blocks, bytes };
    assert_eq!(
        analysis.small_pool_free_blocks.classes,
        [class(KIB, 1, KIB), class(256 * KIB, 1, 508 * KIB), class(MIB, 1, 2 * MIB - 512 * KIB - 320)]
    );
    assert_eq!(
        analysis.large_pool_free_blocks.classes,
        [class(4 * MIB, 1, 6 * MIB), class(8 * MIB, 1, 10 * MIB), class(16 * MIB, 1, 30 * MIB)]
    );
}

#[test]
fn pinning_blocks_have_their_addresses() {
    let analysis = Analysis::of(&fragmented_heap());
    let most = analysis.most_pinned();
    let pinned: Vec<(u64, u64, usize)> =
        most.iter().map(|s| (s.address / MIB, s.cached_free_bytes, s.pinning.len())).collect();
    assert_eq!(pinned, [(8, 16 * MIB, 3), (90, 2 * MIB - 3 * KIB - 320, 3)]);
    let addresses: Vec<u64> = most[0].pinning.iter().map(|b| b.address / MIB).collect();
    assert_eq!(addresses, [8, 24, 38]);
}

#[test]
fn an_unknown_address_range_counts_the_outside_as_one_region() {
    let mut layout = fragmented_heap();
    layout.address_range = None;
    let analysis = Analysis::of(&layout);
    assert!(analysis.assumed_contiguous);
    // Gap of 20 MiB between segments, 100 - 84 = 16 MiB outside the span.
    assert_eq!(analysis.external_fragmentation_bytes, 36 * MIB + 60);
    assert_eq!(analysis.large_pool.after_empty_cache.largest_bytes, 50 * MIB);
}

#[test]
fn an_empty_device_is_not_fragmented() {
    let analysis = Analysis::of(&DeviceLayout::new(0, GIB, Some(0..GIB), Vec::new()));
    assert_eq!((analysis.free_bytes, analysis.largest_free_bytes), (GIB, GIB));
    assert_eq!((analysis.fragmentation_index, analysis.memory_density), (0.0, 1.0));
}

#[test]
fn nothing_free_is_fragmented_only_if_something_is_wasted() {
    let full = |block| DeviceLayout::new(0, MIB, None, vec![SegmentLayout::new(0, Pool::Large, [block])]);
    assert_eq!(Analysis::of(&full(live(MIB))).fragmentation_index, 0.0);
    assert_eq!(Analysis::of(&full(BlockLayout::live(MIB, MIB - 1))).fragmentation_index, 1.0);
}

#[test]
fn a_cap_below_the_device_limits_the_gaps() {
    let mut layout = guide_example();
    layout.total_bytes = 80 * MIB;
    assert_eq!(Analysis::of(&layout).large_pool.now.largest_bytes, 52 * MIB);
    assert_eq!(Analysis::of(&layout).external_fragmentation_bytes, 16 * MIB);
}

#[test]
fn summary_of_the_guide_example() {
    insta::assert_snapshot!(Analysis::of(&guide_example()).summary(None));
}

#[test]
fn summary_of_the_fragmented_heap() {
    insta::assert_snapshot!(Analysis::of(&fragmented_heap()).summary(None));
}

#[test]
fn summary_of_an_unknown_range() {
    let layout = DeviceLayout::new(0, 0, None, Vec::new());
    insta::assert_snapshot!(Analysis::of(&layout).summary(None));
}

fn layouts() -> impl Strategy<Value = DeviceLayout> {
    let block = (1u64..5000, 0u64..5000, 0u8..3).prop_map(|(extent, requested, state)| match state {
        0 => BlockLayout::free(extent),
        1 => BlockLayout::live(extent, requested.min(extent)),
        _ => BlockLayout::pending(extent, requested.min(extent)),
    });
    let segment = (prop::collection::vec(block, 1..8), 0u64..5000, any::<bool>());
    (prop::collection::vec(segment, 0..6), any::<bool>(), 0u64..5000).prop_map(|(parts, is_known, tail)| {
        let mut next = 0;
        let mut segments = Vec::new();
        for (blocks, gap, is_small) in parts {
            let pool = if is_small { Pool::Small } else { Pool::Large };
            let segment = SegmentLayout::new(next + gap, pool, blocks);
            next = segment.address + segment.bytes();
            segments.push(segment);
        }
        DeviceLayout::new(0, next + tail, is_known.then_some(0..next + tail), segments)
    })
}

proptest! {
    #[test]
    fn values_stay_in_their_ranges_and_add_up(layout in layouts()) {
        let a = Analysis::of(&layout);
        prop_assert!((0.0..=1.0).contains(&a.fragmentation_index));
        prop_assert!(a.memory_density > 0.0 && a.memory_density <= 1.0);
        prop_assert_eq!(a.free_bytes, a.total_bytes - a.allocated_bytes);
        prop_assert!(a.largest_free_bytes <= a.free_bytes);
        prop_assert!(a.external_fragmentation_bytes <= a.free_bytes - a.cached_free_bytes);
        prop_assert_eq!(a.cached_free_bytes, a.hole_bytes + a.free_segment_bytes);
        let in_histograms: u64 = [&a.small_pool_free_blocks, &a.large_pool_free_blocks]
            .iter().flat_map(|h| &h.classes).map(|c| c.bytes).sum();
        prop_assert_eq!(in_histograms, a.cached_free_bytes);
        prop_assert!(a.large_pool.now.largest_bytes <= a.large_pool.after_pending_frees.largest_bytes);
        prop_assert!(a.summary(None).lines().all(|line| line.len() <= 75));
    }
}
