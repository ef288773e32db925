//! Random programs over four streams whose work completes in random order: the same addresses, and
//! every statistic after every step, as a sequential model that keeps each deallocation with all it
//! waits for, over a plain ordered-set allocator (allocator semantics §5).

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

#[path = "../crates/neuronx-mem-pool/tests/oracle/mod.rs"]
mod oracle;

#[path = "sequential_model/expected.rs"]
mod expected;

#[path = "sequential_model/streams.rs"]
mod streams;

use expected::{Expected, Falling, compare};
use neuronx_mem::streams::Ticket;
use neuronx_mem::{Allocator, Block, DeviceId};
use oracle::{config, rules};
use proptest::prelude::*;
use streams::{Model, N_STREAMS, Owned};

#[derive(Clone, Debug)]
enum Step {
    Allocate(usize, u64),
    Free(prop::sample::Index),
    Record(prop::sample::Index, usize),
    Submit(usize),
    /// Work of a stream completes up to this share of what is outstanding, in 256ths.
    Complete(usize, u8),
    SynchronizeStream(usize),
    Synchronize,
    EmptyCache,
    ResetPeak,
    ResetAccumulated,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let index = any::<prop::sample::Index>;
    let step = prop_oneof![
        // Few sizes, so that a waiting block often has just the extent that is asked for.
        6 => (0..N_STREAMS, prop::sample::select(vec![1u64, 500, 1500, 9000, 70_000]))
            .prop_map(|(stream, bytes)| Step::Allocate(stream, bytes)),
        2 => (0..N_STREAMS, 0u64..100_000).prop_map(|(stream, bytes)| Step::Allocate(stream, bytes)),
        7 => index().prop_map(Step::Free),
        3 => (index(), 0..N_STREAMS).prop_map(|(pick, stream)| Step::Record(pick, stream)),
        6 => (0..N_STREAMS).prop_map(Step::Submit),
        5 => (0..N_STREAMS, any::<u8>()).prop_map(|(stream, share)| Step::Complete(stream, share)),
        1 => (0..N_STREAMS).prop_map(Step::SynchronizeStream),
        1 => Just(Step::Synchronize),
        1 => Just(Step::EmptyCache),
        1 => Just(Step::ResetPeak),
        1 => Just(Step::ResetAccumulated),
    ];
    prop::collection::vec(step, 1..160)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn four_streams_in_any_order_and_the_sequential_model_agree(rules in rules(), steps in steps()) {
        let config = config(&rules);
        let allocator = Allocator::builder().runtime(Falling::new()).config(config).build().unwrap();
        let device = allocator.device(DeviceId(0)).unwrap();
        let mut streams = vec![device.default_stream()];
        streams.extend((1..N_STREAMS).map(|_| device.new_stream().unwrap()));
        let (mut model, mut expected) = (Model::new(rules), Expected::default());
        let mut live: Vec<(Block, Owned)> = Vec::new();
        expected.observe(&model.oracle);
        for step in steps {
            match step {
                Step::Allocate(stream, bytes) => {
                    let block = allocator.allocate(bytes, &streams[stream]).unwrap();
                    let Some(owned) = model.allocate(stream, bytes, &mut expected) else {
                        prop_assert_eq!(block.address(), 0);
                        continue;
                    };
                    let placed = (owned.placed.address, owned.placed.block_bytes);
                    prop_assert_eq!((block.address(), block.block_bytes()), placed);
                    live.push((block, owned));
                }
                Step::Free(pick) if !live.is_empty() => {
                    let (block, owned) = live.swap_remove(pick.index(live.len()));
                    drop(block);
                    model.free(owned, &mut expected);
                }
                Step::Record(pick, stream) if !live.is_empty() => {
                    let n_live = live.len();
                    let (block, owned) = &mut live[pick.index(n_live)];
                    block.record_stream(&streams[stream]).unwrap();
                    owned.uses.insert(stream);
                }
                Step::Submit(stream) => {
                    let Ticket(ticket) = streams[stream].submit().unwrap();
                    prop_assert_eq!(ticket, model.submit(stream));
                }
                Step::Complete(stream, share) => {
                    let ticket = model.completed[stream] + model.outstanding(stream) * u64::from(share) / 255;
                    streams[stream].complete(Ticket(ticket)).unwrap();
                    model.complete(stream, ticket, &mut expected);
                }
                Step::SynchronizeStream(stream) => {
                    streams[stream].synchronize();
                    model.complete(stream, model.submitted[stream], &mut expected);
                }
                Step::Synchronize => {
                    device.synchronize();
                    model.synchronize(&mut expected);
                }
                Step::EmptyCache => {
                    model.synchronize(&mut expected);
                    let released = device.empty_cache().unwrap();
                    prop_assert_eq!(released.segments, model.oracle.release().len() as u64);
                }
                Step::ResetPeak => {
                    device.reset_peak_memory_stats();
                    expected.reset_peak();
                }
                Step::ResetAccumulated => {
                    device.reset_accumulated_memory_stats();
                    expected.reset_accumulated();
                }
                Step::Free(_) | Step::Record(..) => {}
            }
            expected.observe(&model.oracle);
            compare(device, &expected);
            prop_assert_eq!(device.memory_stats().is_settled(), model.is_settled());
        }
    }
}
