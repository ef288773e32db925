//! Snapshots that make no sense: every question is answered or refused, and nothing breaks.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_explain::{
    Diff, DiffOptions, ExplainOptions, Explanation, Input, LeakOptions, Leaks, Run, StepRule, usual_configs,
};
use neuronx_mem_snapshot::{Action, Block, BlockState, Segment, Snapshot, TraceEntry};
use proptest::prelude::*;

/// Address, bytes, bytes asked for, and the number of a state.
type MadeBlock = (u64, u64, u64, usize);

/// Address, whether it is of the small pool, and its blocks.
type MadeSegment = (u64, bool, Vec<MadeBlock>);

/// Numbers near every edge.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(1),
        Just(64),
        Just(4096),
        Just(1 << 20),
        Just(u64::MAX / 2),
        Just(u64::MAX - 63),
        Just(u64::MAX),
        any::<u64>(),
    ]
}

fn block() -> impl Strategy<Value = MadeBlock> {
    (number(), number(), number(), 0_usize..3)
}

fn snapshot(segments: &[MadeSegment], entries: &[(usize, u64, u64)]) -> Snapshot {
    const STATES: [BlockState; 3] =
        [BlockState::ActiveAllocated, BlockState::ActivePendingFree, BlockState::Inactive];
    let mut snapshot = Snapshot::new();
    snapshot.set_n_devices(1);
    for (address, is_small, blocks) in segments {
        let block = |(address, bytes, requested, state): &MadeBlock| {
            Block::new(*address, *bytes, STATES[*state]).with_requested_bytes(*requested)
        };
        let blocks = blocks.iter().map(block).collect();
        snapshot.segments.push(Segment::from_blocks(0, *address, *is_small, blocks));
    }
    for (action, address, bytes) in entries {
        let entry = TraceEntry::new(Action::ALL[*action]).with_addr(*address).with_size_bytes(*bytes);
        snapshot.push_entry(0, entry);
    }
    snapshot
}

proptest! {
    #[test]
    fn no_snapshot_breaks_a_question(
        segments in prop::collection::vec((number(), any::<bool>(), prop::collection::vec(block(), 0..6)), 0..5),
        entries in prop::collection::vec((0_usize..10, number(), number()), 0..30),
        need_bytes in prop::option::of(number()),
        memory_bytes in prop::option::of(number()),
    ) {
        let snapshot = snapshot(&segments, &entries);
        let input = Input::from_snapshot(Box::new(snapshot), None, "made up").unwrap();
        let mut options = ExplainOptions::default();
        options.need_bytes = need_bytes;
        options.replay.memory_bytes = memory_bytes.filter(|bytes| (1 << 20..1 << 40).contains(bytes));
        options.configs = usual_configs();
        if let Ok(explanation) = Explanation::of(&input, &options) {
            prop_assert!(explanation.heap.most_pinned().len() <= segments.len());
            let bound = explanation.request.and_then(|request| request.release);
            prop_assert!(bound.is_none_or(|release| release.bound <= release.bytes));
        }
        let Ok(run) = Run::of(&input) else { return Ok(()) };
        prop_assert!(Diff::of(&run, &run, &DiffOptions::default()).unwrap().is_empty());
        let mut options = LeakOptions::default();
        options.steps = StepRule::Every(2.try_into().unwrap());
        // Without a history there is nothing to look at.
        let _ = Leaks::of(&run, &options);
    }
}
