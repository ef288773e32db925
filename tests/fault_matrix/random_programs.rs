//! Random programs under random faults: the invariants hold after every step, and a run repeats.

use std::fmt;

use neuronx_mem::sim::FaultPlan;
use neuronx_mem::streams::Ticket;
use neuronx_mem::{AllocError, Block};
use proptest::prelude::*;

use super::{DEVICE, GIB, MIB, allocator, check_invariants, counter, first, outcome, shared_runtime};

#[derive(Clone, Debug)]
enum Step {
    Allocate(usize, u64),
    Free(prop::sample::Index),
    Record(prop::sample::Index, usize),
    Submit(usize),
    Advance(u64),
    Load(u64),
    EmptyCache,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let index = any::<prop::sample::Index>;
    let step = prop_oneof![
        3 => (0usize..4, 1u64..(1 << 20)).prop_map(|(stream, bytes)| Step::Allocate(stream, bytes)),
        6 => (0usize..4, MIB..200 * MIB).prop_map(|(stream, bytes)| Step::Allocate(stream, bytes)),
        5 => index().prop_map(Step::Free),
        2 => (index(), 0usize..4).prop_map(|(pick, stream)| Step::Record(pick, stream)),
        4 => (0usize..4).prop_map(Step::Submit),
        3 => (0u64..8000).prop_map(Step::Advance),
        1 => (MIB..100 * MIB).prop_map(Step::Load),
        1 => Just(Step::EmptyCache),
    ];
    prop::collection::vec(step, 1..120)
}

/// A failing case prints the plan's line, which is all that is needed to run it again.
struct Printed(FaultPlan);

impl fmt::Debug for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

fn plans() -> impl Strategy<Value = Printed> {
    (any::<u64>(), 0u8..=100).prop_map(|(seed, intensity)| Printed(FaultPlan::random(seed, intensity)))
}

/// A program on four streams over a broken device of 1 GiB; all answers, then all statistics.
fn run_program(plan: &FaultPlan, steps: &[Step], is_recovery_enabled: bool) -> Vec<String> {
    let runtime = shared_runtime(GIB, plan);
    let mut work = plan.work();
    let allocator = allocator(&runtime, is_recovery_enabled);
    let device = first(&allocator);
    let mut streams = vec![device.default_stream()];
    streams.extend((0..3).map(|_| device.new_stream().unwrap()));
    let mut live: Vec<Block> = Vec::new();
    let (mut trace, mut models, mut n_ooms, mut n_errors) = (Vec::new(), Vec::new(), 0, 0);
    for step in steps {
        match step {
            Step::Allocate(stream, bytes) => {
                let result = allocator.allocate(*bytes, &streams[*stream]);
                let address = result.as_ref().map_or(0, Block::address);
                trace.push(format!("{} {address}", outcome(&result)));
                n_ooms += u64::from(matches!(result, Err(AllocError::OutOfMemory(_))));
                n_errors += u64::from(result.is_err());
                live.extend(result);
            }
            Step::Free(pick) if !live.is_empty() => drop(live.swap_remove(pick.index(live.len()))),
            Step::Record(pick, stream) if !live.is_empty() => {
                live[pick.index(live.len())].record_stream(&streams[*stream]).unwrap();
            }
            Step::Submit(stream) => {
                let handle = work.submit(streams[*stream].id().0);
                assert_eq!(streams[*stream].submit().unwrap(), Ticket(handle.ticket));
            }
            Step::Advance(ns) => {
                for done in work.advance_to(work.now_ns() + ns) {
                    streams[done.stream as usize].complete(Ticket(done.n_completed)).unwrap();
                }
            }
            Step::Load(bytes) => models.extend(runtime.load_model(DEVICE, *bytes)),
            Step::EmptyCache => trace.push(format!("{:?}", allocator.empty_cache())),
            Step::Free(_) | Step::Record(..) => {}
        }
        check_invariants(&device);
    }
    assert_eq!(counter(&device, "num_ooms"), n_ooms);
    // At most two retries a request, served or not.
    assert!(counter(&device, "num_alloc_retries") <= 2 * counter(&device, "allocation_requests"));
    trace.push(format!("{n_errors} {:?}", device.memory_stats().to_map()));
    trace.push(format!("{:?}", runtime.counters(DEVICE)));
    drop((live, streams, device, allocator));
    runtime.settle();
    let counters = runtime.counters(DEVICE);
    // Every segment was given back; those that are missing are those that the runtime refused.
    let n_missing = counters.segments_allocated - counters.segments_freed;
    assert!(n_missing <= counters.faults.frees_failed);
    assert_eq!(counters.held_bytes == 0, n_missing == 0);
    models.into_iter().for_each(|model| runtime.unload_model(DEVICE, model).unwrap());
    runtime.stop_faults();
    runtime.close();
    assert_eq!(runtime.largest_gap_bytes(DEVICE), GIB);
    trace
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_programs_under_random_faults_keep_the_invariants_and_repeat(
        plan in plans(),
        steps in steps(),
        is_recovery_enabled in any::<bool>(),
    ) {
        let first = run_program(&plan.0, &steps, is_recovery_enabled);
        let again = plan.0.to_string().parse().unwrap();
        prop_assert_eq!(first, run_program(&again, &steps, is_recovery_enabled));
    }
}
