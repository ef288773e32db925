//! The placement rules one by one, each test named after the section that states the rule.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_config::AllocatorConfig;
use neuronx_mem_pool::{
    BlockId, BlockState, MissReason, NearestMiss, Placement, PlacementPolicy, PoolError, PoolKind,
    SegmentPool,
};

const MIB: u64 = 1 << 20;

/// A pool that grows by itself: segments one after the other, with a hole of 1 MiB between.
struct Growing {
    pool: SegmentPool,
    next_address: u64,
    segments: Vec<u64>,
}

impl Growing {
    fn new(config: &str) -> Self {
        let pool = SegmentPool::new(&AllocatorConfig::parse(config).config);
        Self { pool, next_address: MIB, segments: Vec::new() }
    }

    fn allocate(&mut self, bytes: u64) -> Placement {
        let request = self.pool.policy().plan(bytes).unwrap();
        if let Some(placement) = self.pool.allocate(&request) {
            return placement;
        }
        let address = self.next_address;
        let bytes = self.pool.policy().segment_bytes(&request).unwrap();
        self.next_address += (bytes + MIB).next_multiple_of(64);
        self.segments.push(bytes);
        self.pool.grow(&request, address, bytes, 0).unwrap()
    }

    fn id(&mut self, bytes: u64) -> BlockId {
        self.allocate(bytes).id
    }

    #[track_caller]
    fn assert_usage(&self, reserved: u64, allocated: u64, active: u64) {
        let usage = self.pool.usage();
        assert_eq!(
            (usage.reserved_bytes, usage.allocated_bytes, usage.active_bytes),
            (reserved, allocated, active)
        );
        self.pool.validate().unwrap();
    }
}

/// (request, pool, block size, segment) with default configuration.
#[track_caller]
fn check_fresh(request: u64, kind: PoolKind, block_bytes: u64, segment_bytes: u64) {
    let mut growing = Growing::new("");
    let planned = growing.pool.policy().plan(request).unwrap();
    let placement = growing.allocate(request);
    assert_eq!(
        (planned.kind(), placement.block_bytes, growing.segments.clone()),
        (kind, block_bytes, vec![segment_bytes]),
        "request of {request}"
    );
    assert_eq!(placement.address % 64, 0);
}

#[test]
fn guidelines_two_pools_and_segment_sizes() {
    check_fresh(1, PoolKind::Small, 256, 2 * MIB);
    check_fresh(257, PoolKind::Small, 320, 2 * MIB);
    check_fresh(321, PoolKind::Small, 384, 2 * MIB);
    check_fresh(MIB - 1, PoolKind::Small, MIB, 2 * MIB);
    check_fresh(MIB, PoolKind::Large, MIB, 64 * MIB);
    check_fresh(15 * MIB + MIB / 2, PoolKind::Large, 16 * MIB, 64 * MIB);
    check_fresh(16 * MIB - 1, PoolKind::Large, 16 * MIB, 64 * MIB);
}

#[test]
fn environment_reference_medium_threshold_gets_its_own_segment() {
    check_fresh(16 * MIB, PoolKind::Large, 16 * MIB, 16 * MIB);
    // Unrounded; the remainder of 2,097,151 (rounded down to the 64 B grid) is split off.
    check_fresh(16 * MIB + 1, PoolKind::Large, 16 * MIB + 1, 18 * MIB);
    // A remainder below kLargeSplitThreshold is not split off: the block is the whole segment.
    check_fresh(512 * MIB - 100 * 1024, PoolKind::Large, 512 * MIB, 512 * MIB);
}

#[test]
fn profiling_guide_example_reserves_one_segment() {
    let mut growing = Growing::new("");
    growing.allocate(4 * MIB);
    growing.allocate(8 * MIB);
    growing.assert_usage(64 * MIB, 12 * MIB, 12 * MIB);
    growing.allocate(64 * MIB);
    growing.assert_usage(128 * MIB, 79_691_776, 79_691_776);
}

#[test]
fn guidelines_small_requests_never_use_large_segments() {
    let mut growing = Growing::new("");
    let large = growing.id(4 * MIB);
    growing.pool.free(large).unwrap();
    growing.allocate(1000);
    assert_eq!(growing.segments, [64 * MIB, 2 * MIB]);
    growing.assert_usage(66 * MIB, 1024, 1000);
}

#[test]
fn semantics_3_best_fit_then_older_segment_then_lower_offset() {
    let mut growing = Growing::new("");
    // Two segments, each with a hole of 1024 between live blocks; the older one has two.
    let old: Vec<Placement> = (0..5).map(|_| growing.allocate(1024)).collect();
    growing.allocate(2 * MIB - 5 * 1024 - 1024 * 1024); // fill the first segment up
    growing.allocate(MIB - 64 * 1024);
    let young: Vec<Placement> = (0..3).map(|_| growing.allocate(1024)).collect();
    growing.pool.free(young[1].id).unwrap();
    growing.pool.free(old[3].id).unwrap();
    growing.pool.free(old[1].id).unwrap();
    assert_eq!(growing.allocate(1000).address, old[1].address);
    assert_eq!(growing.allocate(1000).address, old[3].address);
    assert_eq!(growing.allocate(1000).address, young[1].address);
}

#[test]
fn semantics_3_smallest_sufficient_block_wins_over_older() {
    let mut growing = Growing::new("");
    let blocks: Vec<Placement> = [4096, 256, 2048, 256].iter().map(|n| growing.allocate(*n)).collect();
    growing.pool.free(blocks[0].id).unwrap();
    growing.pool.free(blocks[2].id).unwrap();
    assert_eq!(growing.allocate(2000).address, blocks[2].address);
    assert_eq!(growing.allocate(2000).address, blocks[0].address);
}

#[test]
fn environment_reference_split_thresholds() {
    // 2 MiB small segment: a request that leaves less than kSmallSplitThreshold gets it all.
    let mut growing = Growing::new("kSmallSplitThreshold=1048577");
    assert_eq!(growing.allocate(MIB - 1).block_bytes, 2 * MIB);
    let mut growing = Growing::new("kSmallSplitThreshold=1048576");
    assert_eq!(growing.allocate(MIB - 1).block_bytes, MIB);
    let mut growing = Growing::new("kLargeSplitThreshold=50331649");
    assert_eq!(growing.allocate(16 * MIB - 1).block_bytes, 64 * MIB);
}

#[test]
fn environment_reference_split_thresholds_follow_their_keys() {
    // kSmallSplitThreshold follows kMinRoundedSize = 4096; a remainder of 2048 stays.
    let mut growing = Growing::new("kMinRoundedSize=4096,kSmallSegmentSize=6144");
    assert_eq!(growing.allocate(1).block_bytes, 6144);
    // kLargeSplitThreshold follows kPoolBoundary = 256: nearly everything is split.
    let mut growing = Growing::new("kPoolBoundary=256");
    assert_eq!(growing.allocate(16 * MIB + 1000).block_bytes, 16 * MIB + 1000);
}

#[test]
fn environment_reference_capped_split_example() {
    let config = "kMaxSplitSizeBytes=536870912,kMaxNonSplitRoundingBytes=67108864";
    let mut growing = Growing::new(config);
    let big = growing.allocate(600 * MIB);
    growing.pool.free(big.id).unwrap();
    // 100 MiB may not carve it; 536 MiB is exactly within tolerance, inclusive.
    assert_ne!(growing.allocate(100 * MIB).address, big.address);
    let reused = growing.allocate(536 * MIB);
    assert_eq!((reused.address, reused.block_bytes), (big.address, 600 * MIB));
    growing.pool.free(reused.id).unwrap();
    assert_ne!(growing.allocate(536 * MIB - 64).address, big.address);
    // A free block of exactly the cap is still split.
    let mut growing = Growing::new(config);
    let at_cap = growing.allocate(512 * MIB);
    growing.pool.free(at_cap.id).unwrap();
    let part = growing.allocate(100 * MIB);
    assert_eq!((part.address, part.block_bytes), (at_cap.address, 100 * MIB));
}

#[test]
fn semantics_3_a_fresh_segment_may_always_be_carved() {
    let mut growing = Growing::new("kMaxSplitSizeBytes=1048576");
    assert_eq!(growing.allocate(2 * MIB).block_bytes, 2 * MIB);
    growing.assert_usage(64 * MIB, 2 * MIB, 2 * MIB);
}

#[test]
fn semantics_3_a_free_own_segment_is_carved_by_smaller_large_requests() {
    let mut growing = Growing::new("");
    let own = growing.allocate(100 * MIB);
    growing.pool.free(own.id).unwrap();
    assert_eq!(growing.allocate(2 * MIB).address, own.address);
}

#[test]
fn semantics_3_a_segment_is_never_smaller_than_its_block() {
    let mut growing = Growing::new("kSmallSegmentSize=1000");
    growing.allocate(5000);
    assert_eq!(growing.segments, [2 * MIB]);
    let mut growing = Growing::new("kSegmentAlignment=1");
    assert_eq!(growing.allocate(16 * MIB + 1).block_bytes, 16 * MIB + 64); // handed out unsplit
    assert_eq!(growing.segments, [16 * MIB + 64]);
}

#[test]
fn semantics_1_padding_is_what_alignment_adds() {
    // N = 64: 257 is a class of its own (4 B steps), its extent 320.
    let mut growing = Growing::new("kRoundupPower2Divisions=64");
    let placement = growing.allocate(257);
    assert_eq!((placement.block_bytes, placement.extent_bytes), (260, 320));
    assert_eq!(growing.pool.usage().padding_bytes, 60);
    // The same hole again, exactly filled: unsplit, so the whole extent is the block.
    growing.allocate(256);
    growing.pool.free(placement.id).unwrap();
    assert_eq!(growing.allocate(257).block_bytes, 320);
    assert_eq!(growing.pool.usage().padding_bytes, 0);
}

#[test]
fn semantics_3_neighbours_merge_within_a_segment_only() {
    let mut growing = Growing::new("");
    let ids: Vec<BlockId> = (0..3).map(|_| growing.id(MIB - 1)).collect();
    assert_eq!(growing.segments, [2 * MIB, 2 * MIB]);
    for id in &ids {
        growing.pool.free(*id).unwrap();
    }
    assert_eq!(growing.pool.largest_free_bytes(PoolKind::Small), 2 * MIB);
    let segments: Vec<_> = growing.pool.segments().collect();
    assert_eq!(segments.iter().map(|s| growing.pool.blocks(s).count()).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn release_takes_fully_free_segments_only() {
    let mut growing = Growing::new("");
    let (small, large) = (growing.id(1), growing.id(MIB));
    let own = growing.id(70 * MIB); // does not fit into the rest of the first segment
    growing.pool.free(own).unwrap();
    growing.pool.free(small).unwrap();
    let released: Vec<(PoolKind, u64)> =
        growing.pool.release_free_segments().iter().map(|s| (s.kind, s.bytes)).collect();
    assert_eq!(released, [(PoolKind::Small, 2 * MIB), (PoolKind::Large, 70 * MIB)]);
    growing.assert_usage(64 * MIB, MIB, MIB);
    growing.pool.free(large).unwrap();
    assert_eq!(growing.pool.release_free_segments().len(), 1);
    growing.assert_usage(0, 0, 0);
}

#[test]
fn release_all_makes_every_handle_stale() {
    let mut growing = Growing::new("");
    let (a, b) = (growing.id(1), growing.id(30 * MIB));
    growing.pool.mark_pending(b).unwrap();
    assert_eq!(growing.pool.release_all_segments().len(), 2);
    for id in [a, b] {
        assert_eq!(growing.pool.free(id), Err(PoolError::DoubleFree { id }));
    }
    growing.assert_usage(0, 0, 0);
}

#[test]
fn a_double_free_and_a_stale_handle_are_typed() {
    let mut growing = Growing::new("");
    let id = growing.id(1000);
    growing.pool.free(id).unwrap();
    assert_eq!(growing.pool.free(id), Err(PoolError::DoubleFree { id }));
    let again = growing.id(1000);
    assert_eq!(again.slot(), id.slot());
    assert_eq!(growing.pool.free(id), Err(PoolError::StaleHandle { id }));
    assert_eq!(growing.pool.free_pending(again), Err(PoolError::NotPending { id: again }));
    growing.pool.mark_pending(again).unwrap();
    assert_eq!(growing.pool.mark_pending(again), Err(PoolError::DoubleFree { id: again }));
    assert_eq!(growing.pool.free(again), Err(PoolError::DoubleFree { id: again }));
    growing.pool.free_pending(again).unwrap();
    let unknown = BlockId::from_bits(u64::MAX);
    assert_eq!(growing.pool.free(unknown), Err(PoolError::StaleHandle { id: unknown }));
    assert_eq!(BlockId::from_bits(id.to_bits()), id);
}

#[test]
fn a_pending_block_can_go_straight_to_a_request_of_its_extent() {
    let mut growing = Growing::new("");
    let id = growing.id(1000);
    growing.allocate(1000);
    let request = |bytes, growing: &Growing| growing.pool.policy().plan(bytes).unwrap();
    let (exact, other) = (request(1020, &growing), request(2000, &growing));
    assert_eq!(growing.pool.reuse_pending(id, &exact), Err(PoolError::NotPending { id }));
    growing.pool.mark_pending(id).unwrap();
    assert_eq!(growing.pool.reuse_pending(id, &other), Ok(None));
    let (freed, placed) = growing.pool.reuse_pending(id, &exact).unwrap().unwrap();
    assert_eq!((freed.requested_bytes, freed.block_bytes, placed.block_bytes), (1000, 1024, 1024));
    assert_ne!(placed.id, id);
    assert_eq!(growing.pool.free(id), Err(PoolError::StaleHandle { id }));
    growing.assert_usage(2 * MIB, 2048, 2020);
    growing.pool.free(placed.id).unwrap();
    growing.assert_usage(2 * MIB, 1024, 1000);
}

#[test]
fn semantics_2_sizes_near_the_top_are_an_error() {
    let policy = PlacementPolicy::new(&AllocatorConfig::default());
    let segment_bytes = |n| policy.plan(n).and_then(|request| policy.segment_bytes(&request));
    for requested_bytes in [u64::MAX, u64::MAX - 62] {
        let error = PoolError::SizeOverflow { requested_bytes };
        assert_eq!(policy.plan(requested_bytes), Err(error), "the block is too large");
    }
    for requested_bytes in [u64::MAX - 63, u64::MAX - (2 << 20) + 2] {
        let error = PoolError::SizeOverflow { requested_bytes };
        assert!(policy.plan(requested_bytes).is_ok());
        assert_eq!(segment_bytes(requested_bytes), Err(error), "the segment is too large");
    }
    assert_eq!(policy.plan(0), Err(PoolError::ZeroBytes));
    let most = u64::MAX - (2 << 20) + 1;
    assert_eq!(segment_bytes(most), Ok(most));
    let edge = 1u64 << 62;
    assert_eq!(policy.plan(edge + 1).map(|r| r.extent_bytes()), Ok(edge + 64));
}

#[test]
fn semantics_2_a_floor_near_the_top_is_no_panic() {
    let config = AllocatorConfig::parse("kMinRoundedSize=18446744073709551615").config;
    let policy = PlacementPolicy::new(&config);
    assert_eq!(policy.plan(1), Err(PoolError::SizeOverflow { requested_bytes: 1 }));
}

#[test]
fn bad_segments_are_refused_and_change_nothing() {
    let mut pool = SegmentPool::new(&AllocatorConfig::default());
    let request = pool.policy().plan(4096).unwrap();
    pool.grow(&request, 4096, 8192, 0).unwrap();
    let before = pool.usage();
    let overlap = |address, segment_bytes| Err(PoolError::SegmentOverlap { address, segment_bytes });
    let mut grow = |address, bytes| pool.grow(&request, address, bytes, 0).map(|_| ());
    assert_eq!(
        grow(1 << 20, 4095),
        Err(PoolError::SegmentTooSmall { segment_bytes: 4095, extent_bytes: 4096 })
    );
    assert_eq!(grow(65, 8192), Err(PoolError::UnalignedSegment { address: 65 }));
    assert_eq!(grow(0, 4160), overlap(0, 4160));
    assert_eq!(grow(4096, 4096), overlap(4096, 4096));
    assert_eq!(grow(8192, 4096), overlap(8192, 4096));
    assert_eq!(grow(u64::MAX - 63, 4096), overlap(u64::MAX - 63, 4096));
    assert_eq!(pool.insert_segment(PoolKind::Small, 0, 0, 0), overlap(0, 0).map(|()| unreachable!()));
    assert_eq!(pool.usage(), before);
    pool.validate().unwrap();
}

#[test]
fn nearest_miss_names_the_rule() {
    let mut growing = Growing::new("kMaxSplitSizeBytes=67108864,kMaxNonSplitRoundingBytes=1048576");
    let request = |bytes: u64, growing: &Growing| growing.pool.policy().plan(bytes).unwrap();
    let reason = |bytes: u64, growing: &Growing| {
        growing.pool.nearest_miss(&request(bytes, growing)).map(|NearestMiss { reason, .. }| reason)
    };
    assert_eq!(reason(1000, &growing), None); // nothing is free
    let big = growing.id(100 * MIB);
    growing.pool.free(big).unwrap();
    let not_splittable = MissReason::NotSplittable { excess_bytes: 20 * MIB, tolerance_bytes: MIB };
    assert_eq!(reason(80 * MIB, &growing), Some(not_splittable));
    assert_eq!(reason(100 * MIB, &growing), None); // would be served
    assert_eq!(reason(1000, &growing), Some(MissReason::OtherPool { pool: PoolKind::Large }));
    assert_eq!(reason(101 * MIB, &growing), Some(MissReason::TooSmall { short_bytes: MIB }));
}

#[test]
fn views_show_blocks_in_order_of_address() {
    let mut growing = Growing::new("");
    let (a, b) = (growing.allocate(1000), growing.allocate(300));
    growing.pool.live(b.id).unwrap().set_tag(42);
    growing.pool.mark_pending(b.id).unwrap();
    let segment = growing.pool.segments().next().unwrap();
    let states: Vec<(u64, u64, u64, BlockState, u64)> = growing
        .pool
        .blocks(&segment)
        .map(|v| (v.address - segment.address, v.extent_bytes, v.requested_bytes, v.state, v.tag))
        .collect();
    assert_eq!(
        states,
        [
            (0, 1024, 1000, BlockState::Live, 0),
            (1024, 320, 300, BlockState::PendingFree, 42),
            (1344, 2 * MIB - 1344, 0, BlockState::Free, 0)
        ]
    );
    assert_eq!(growing.pool.find_block(a.address + 1023).unwrap().id, a.id);
    assert_eq!(growing.pool.find_block(b.address).unwrap().id, b.id);
    assert_eq!(growing.pool.find_block(segment.address + segment.bytes), None);
    assert_eq!(growing.pool.slice_of(b.id), Some((0, 1024)));
    assert_eq!(growing.pool.usage().pending_bytes, 320);
    assert_eq!(growing.pool.live(a.id).unwrap().tag(), 0);
}
