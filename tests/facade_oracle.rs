//! Random programs under random configurations through the facade: the same addresses and every
//! statistic, peaks and totals included, as sums over a plain ordered-set allocator.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

#[path = "../crates/neuronx-mem-pool/tests/oracle/mod.rs"]
mod oracle;

#[path = "sequential_model/expected.rs"]
mod expected;

use expected::{Expected, Falling, TOP, below, compare};
use neuronx_mem::{Allocator, Block, DeviceId};
use oracle::{Oracle, config, rules};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Allocate(u64),
    Free(prop::sample::Index),
    EmptyCache,
    ResetPeak,
    ResetAccumulated,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0u64..3000).prop_map(Step::Allocate),
        3 => (0u64..200_000).prop_map(Step::Allocate),
        5 => any::<prop::sample::Index>().prop_map(Step::Free),
        1 => Just(Step::EmptyCache),
        1 => Just(Step::ResetPeak),
        1 => Just(Step::ResetAccumulated),
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn facade_and_oracle_agree(rules in rules(), steps in steps()) {
        let config = config(&rules);
        let runtime = Falling::new();
        let allocator = Allocator::builder().runtime(runtime).config(config).build().unwrap();
        let device = allocator.device(DeviceId(0)).unwrap();
        let stream = device.default_stream();
        let mut oracle = Oracle::new(rules);
        let mut next_address = TOP;
        let mut live: Vec<(Block, (usize, u64))> = Vec::new();
        let mut expected = Expected::default();
        expected.observe(&oracle);
        for step in steps {
            match step {
                Step::Allocate(0) => prop_assert_eq!(allocator.allocate(0, &stream).unwrap().address(), 0),
                Step::Allocate(bytes) => {
                    let block = allocator.allocate(bytes, &stream).unwrap();
                    let placed = oracle.allocate(bytes, |segment_bytes| {
                        next_address = below(next_address, segment_bytes);
                        next_address
                    });
                    prop_assert_eq!((block.address(), block.block_bytes()), (placed.address, placed.block_bytes));
                    live.push((block, placed.name));
                }
                Step::Free(pick) => {
                    if !live.is_empty() {
                        let (block, name) = live.swap_remove(pick.index(live.len()));
                        drop(block);
                        oracle.free(name);
                    }
                }
                Step::EmptyCache => {
                    let released = device.empty_cache().unwrap();
                    prop_assert_eq!(released.segments, oracle.release().len() as u64);
                }
                Step::ResetPeak => {
                    device.reset_peak_memory_stats();
                    expected.reset_peak();
                }
                Step::ResetAccumulated => {
                    device.reset_accumulated_memory_stats();
                    expected.reset_accumulated();
                }
            }
            expected.observe(&oracle);
            compare(device, &expected);
        }
    }
}
