//! The smallest release against every subset of the live blocks, on random heaps.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod common;

use neuronx_mem::AllocatorConfig;
use neuronx_mem::fragmentation::BlockUse;
use neuronx_mem_explain::{
    Heap, HeapBlock, Input, Least, Moment, Need, Release, Remedies, Replayed, Rules, ServedBy,
    smallest_release,
};
use neuronx_mem_replay::ReplayOptions;
use neuronx_mem_snapshot::{Block, BlockState, Segment, Snapshot};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

/// A heap of segments side by side with gaps of 2 MiB, as a snapshot of PyTorch shows it.
fn heap(segments: &[Vec<(u64, BlockState)>], total_bytes: Option<u64>) -> Heap {
    let mut snapshot = Snapshot::new();
    snapshot.set_n_devices(1);
    let mut next = 0x1000_0000;
    for blocks in segments {
        let start = next;
        let blocks: Vec<Block> = blocks
            .iter()
            .map(|(mib, state)| {
                let block = Block::new(next, mib * MIB, *state);
                next += mib * MIB;
                block
            })
            .collect();
        next += 2 * MIB;
        snapshot.segments.push(Segment::from_blocks(0, start, false, blocks));
    }
    Heap::of_snapshot(&snapshot, 0, total_bytes)
}

fn live(heap: &Heap) -> Vec<HeapBlock> {
    let blocks = heap.segments.iter().flat_map(|segment| &segment.blocks);
    blocks.filter(|block| block.state == BlockUse::Live).copied().collect()
}

/// Whether the request is served once these blocks are free, after all waits and `empty_cache`. Looks
/// at bytes of the address space one MiB at a time, unlike the crate.
fn is_served(heap: &Heap, need: &Need, given_up: &[HeapBlock]) -> bool {
    let is_free = |block: &HeapBlock| block.state != BlockUse::Live || given_up.contains(block);
    let mut room = heap.device_free_bytes.unwrap_or(0);
    for segment in &heap.segments {
        let mut run = 0;
        let mut is_idle = true;
        for block in &segment.blocks {
            for _ in 0..block.bytes / MIB {
                run = if is_free(block) { run + MIB } else { 0 };
                if run >= need.block_bytes {
                    return true;
                }
            }
            is_idle &= is_free(block);
        }
        room += if is_idle { segment.bytes } else { 0 };
    }
    room >= need.segment_bytes
}

/// The least of all subsets, by trying each.
fn by_force(heap: &Heap, need: &Need, least: Least) -> Option<u64> {
    let live = live(heap);
    let subsets = (0_u32..1 << live.len()).filter_map(|set| {
        let chosen: Vec<HeapBlock> =
            (0..live.len()).filter(|idx| set >> idx & 1 == 1).map(|idx| live[idx]).collect();
        is_served(heap, need, &chosen).then_some(chosen)
    });
    let size = |chosen: &Vec<HeapBlock>| match least {
        Least::Blocks => chosen.len() as u64,
        _ => chosen.iter().map(|block| block.bytes).sum(),
    };
    subsets.map(|chosen| size(&chosen)).min()
}

fn block() -> impl Strategy<Value = (u64, BlockState)> {
    let state = prop_oneof![
        5 => Just(BlockState::ActiveAllocated),
        1 => Just(BlockState::ActivePendingFree),
        3 => Just(BlockState::Inactive),
    ];
    (1_u64..12, state)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_subset_of_up_to_14_blocks_is_smaller(
        segments in prop::collection::vec(prop::collection::vec(block(), 1..6), 1..6),
        need_mib in 1_u64..60,
        slack_mib in prop::option::of(0_u64..20),
        by_blocks in any::<bool>(),
    ) {
        let reserved: u64 = segments.iter().flatten().map(|(mib, _)| mib * MIB).sum();
        let heap = heap(&segments, slack_mib.map(|slack| reserved + slack * MIB));
        prop_assume!(live(&heap).len() <= 14);
        let need = Rules::PyTorch.plan(need_mib * MIB, 0).unwrap();
        // Requests of the small pool are served by no segment here.
        prop_assume!(need_mib > 1);
        let least = if by_blocks { Least::Blocks } else { Least::Bytes };
        let found = smallest_release(&heap, &need, least);
        prop_assert_eq!(found.as_ref().map(|release| release.size(least)), by_force(&heap, &need, least));
        if let Some(release) = found {
            prop_assert!(is_served(&heap, &need, &release.blocks), "{:?}", release);
            prop_assert!(release.is_smallest(least), "{:?}", release);
            let bytes: u64 = release.blocks.iter().map(|block| block.bytes).sum();
            prop_assert_eq!(release.bytes, bytes);
        }
        let remedies = Remedies::of(&heap, &need);
        prop_assert_eq!(remedies.after_both, is_served(&heap, &need, &[]));
    }

    #[test]
    fn large_heaps_are_within_five_percent_of_the_bound(
        segments in prop::collection::vec(prop::collection::vec(block(), 1..30), 10..40),
        part in 1_u64..100,
    ) {
        let heap = heap(&segments, None);
        let need = Rules::PyTorch.plan((heap.reserved_bytes() / 100 * part).max(2 * MIB), 0).unwrap();
        if let Some(release) = smallest_release(&heap, &need, Least::Bytes) {
            prop_assert!(is_served(&heap, &need, &release.blocks));
            prop_assert!(release.bound <= release.bytes);
            prop_assert!(release.bytes as f64 <= release.bound as f64 * 1.05);
        }
    }
}

/// The device of a replay knows its addresses: there, memory must come back side by side.
fn replayed(text: &str, memory_mib: u64) -> Heap {
    let input: Input = common::input(text);
    let options = ReplayOptions { memory_bytes: Some(memory_mib * MIB), ..ReplayOptions::default() };
    Replayed::at(&input, &options, Moment::End).unwrap().heap
}

#[track_caller]
fn release(heap: &Heap, need_mib: u64) -> Release {
    let need = Rules::Neuron(AllocatorConfig::default()).plan(need_mib * MIB, 0).unwrap();
    smallest_release(heap, &need, Least::Bytes).unwrap()
}

#[test]
fn segments_of_a_known_address_range_must_be_neighbours() {
    // 20 | 30 | 20 | 30 MiB fill the device: the two small ones would add up to 40 MiB, but apart.
    let text = "a,1,20971520,0\na,2,31457280,0\na,3,20971520,0\na,4,31457280,0\n";
    let found = release(&replayed(text, 100), 40);
    assert_eq!(found.serves_by, ServedBy::NewSegment { n_segments: 2 });
    assert_eq!(found.bytes, 50 * MIB);
}

#[test]
fn what_is_free_already_needs_no_release() {
    let heap = replayed("a,1,20971520,0\na,2,20971520,0\nf,1\n", 40);
    let found = release(&heap, 18);
    assert_eq!((found.blocks.len(), found.bytes, found.bound), (0, 0, 0));
    assert_eq!(found.serves_by, ServedBy::CachedBlock { address: heap.segments[0].address, bytes: 20 * MIB });
}

#[test]
fn a_device_that_is_too_small_is_helped_by_no_release() {
    let need = Rules::Neuron(AllocatorConfig::default()).plan(64 * MIB, 0).unwrap();
    assert_eq!(smallest_release(&replayed("a,1,20971520,0\n", 40), &need, Least::Bytes), None);
}

#[test]
fn a_block_that_must_stay_whole_does_not_serve_a_small_request() {
    let config =
        AllocatorConfig::parse("kMaxSplitSizeBytes=67108864,kMaxNonSplitRoundingBytes=1048576").config;
    let need = Rules::Neuron(config).plan(20 * MIB, 0).unwrap();
    assert!(need.admits(64 * MIB) && !need.admits(65 * MIB));
    assert!(!need.admits(19 * MIB));
}

#[test]
fn requests_follow_the_rules_of_the_allocator_that_wrote_the_snapshot() {
    let neuron = Rules::Neuron(AllocatorConfig::default()).plan(5 * MIB + 1, 0).unwrap();
    assert_eq!((neuron.block_bytes, neuron.segment_bytes), (6 * MIB, 64 * MIB));
    let pytorch = Rules::PyTorch.plan(5 * MIB + 1, 0).unwrap();
    assert_eq!((pytorch.block_bytes, pytorch.segment_bytes), (5 * MIB + 512, 20 * MIB));
    assert!(Rules::PyTorch.plan(0, 0).is_err());
    assert!(Rules::PyTorch.plan(u64::MAX, 0).is_err());
    assert!(Rules::Neuron(AllocatorConfig::default()).plan(u64::MAX, 0).is_err());
    assert!(matches!(Rules::of_snapshot(&Snapshot::new()), Rules::PyTorch));
}
