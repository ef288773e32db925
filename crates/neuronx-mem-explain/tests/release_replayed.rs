//! The smallest release on heaps of the real allocator, where addresses are known: against every subset
//! of the live blocks, and by asking the allocator itself.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod common;

use neuronx_mem::AllocatorConfig;
use neuronx_mem::fragmentation::BlockUse;
use neuronx_mem_explain::{
    Heap, HeapBlock, Input, Least, Moment, Need, Remedies, Replayed, Rules, smallest_release,
};
use neuronx_mem_replay::{Replay, ReplayOptions};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

/// A trace from choices: allocate so many MiB, or free one of the live tensors.
fn trace(choices: &[(bool, u64)]) -> String {
    let (mut text, mut live) = (String::new(), Vec::new());
    for (id, (frees, number)) in choices.iter().enumerate() {
        if *frees && !live.is_empty() {
            let idx = usize::try_from(*number).unwrap() % live.len();
            text += &format!("f,{}\n", live.remove(idx));
        } else {
            text += &format!("a,{id},{},0\n", (number % 40 + 1) * MIB);
            live.push(id);
        }
    }
    text
}

/// Whether the request is served once these blocks are free, after `empty_cache`: MiB by MiB.
fn is_served(heap: &Heap, need: &Need, given_up: &[HeapBlock]) -> bool {
    let is_free = |block: &HeapBlock| block.state == BlockUse::Free || given_up.contains(block);
    let range = heap.address_range.clone().unwrap();
    let mut is_taken = vec![false; usize::try_from((range.end - range.start) / MIB).unwrap()];
    for segment in &heap.segments {
        let mut run = 0;
        for block in &segment.blocks {
            run = if is_free(block) { run + block.bytes } else { 0 };
            if run >= need.block_bytes {
                return true;
            }
        }
        if !segment.blocks.iter().all(is_free) {
            let first = usize::try_from((segment.address - range.start) / MIB).unwrap();
            is_taken[first..first + usize::try_from(segment.bytes / MIB).unwrap()].fill(true);
        }
    }
    let gaps = is_taken.chunk_by(|a, b| a == b).filter(|run| !run[0]);
    gaps.map(|run| run.len() as u64 * MIB).any(|bytes| bytes >= need.segment_bytes)
}

/// The allocator's own answer: give the tensors up that were born at these events, and ask.
fn allocates(input: &Input, options: &ReplayOptions, births: &[u64], bytes: u64) -> bool {
    let mut handles = Vec::new();
    let observed = Replay::new(*options).observe(input.trace().events(), |progress| {
        if births.contains(&progress.number) {
            handles.push(progress.handle.unwrap());
        }
    });
    let device = observed.unwrap().device;
    handles.into_iter().for_each(|handle| device.free_handle(handle).unwrap());
    device.allocate(bytes, &device.default_stream()).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_subset_is_smaller_and_the_allocator_agrees(
        choices in prop::collection::vec((prop::bool::weighted(0.35), 0_u64..1000), 1..24),
        memory_mib in 100_u64..400,
        need_mib in 1_u64..200,
        by_blocks in any::<bool>(),
    ) {
        let input = common::input(&trace(&choices));
        let options = ReplayOptions { memory_bytes: Some(memory_mib * MIB), ..ReplayOptions::default() };
        let heap = Replayed::at(&input, &options, Moment::End).unwrap().heap;
        let live: Vec<HeapBlock> =
            heap.segments.iter().flat_map(|segment| segment.pinning()).copied().collect();
        prop_assume!(live.len() <= 12);
        let need = Rules::Neuron(AllocatorConfig::default()).plan(need_mib * MIB, 0).unwrap();
        let least = if by_blocks { Least::Blocks } else { Least::Bytes };
        let found = smallest_release(&heap, &need, least);
        let subsets = (0_u32..1 << live.len()).filter_map(|set| {
            let chosen: Vec<HeapBlock> =
                (0..live.len()).filter(|idx| set >> idx & 1 == 1).map(|idx| live[idx]).collect();
            let size = if by_blocks {
                chosen.len() as u64
            } else {
                chosen.iter().map(|block| block.bytes).sum()
            };
            is_served(&heap, &need, &chosen).then_some(size)
        });
        prop_assert_eq!(found.as_ref().map(|release| release.size(least)), subsets.min());
        prop_assert_eq!(Remedies::of(&heap, &need).after_both, allocates(&input, &options, &[], need_mib * MIB));
        if let Some(release) = found {
            let births: Vec<u64> = release.blocks.iter().map(|block| block.birth.unwrap().event).collect();
            prop_assert!(release.is_smallest(least));
            prop_assert!(allocates(&input, &options, &births, need_mib * MIB), "{:?}", release);
        }
    }
}
