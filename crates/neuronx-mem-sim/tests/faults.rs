//! Every fault of a plan by itself: which call it strikes, what it answers, what it holds.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::collections::BTreeSet;

use neuronx_mem_runtime::{DeviceId, DeviceRuntime, Operation, RuntimeError, SegmentHandle, Status};
use neuronx_mem_sim::{
    CallPattern, CostModel, FaultCounters, FaultPlan, FaultSpan, Lnc, Preset, SimulatedRuntime,
    SimulatorError, VirtualClock,
};

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;
const DEVICE: DeviceId = DeviceId(0);

fn runtime(memory_bytes: u64, plan: FaultPlan) -> SimulatedRuntime {
    SimulatedRuntime::builder().memory_bytes(memory_bytes).faults(plan).build()
}

fn faults(runtime: &SimulatedRuntime) -> FaultCounters {
    runtime.counters(DEVICE).faults
}

fn place(runtime: &SimulatedRuntime, mib: u64) -> SegmentHandle {
    runtime.allocate_segment(DEVICE, mib * MIB).unwrap().handle
}

fn free(runtime: &SimulatedRuntime, segment: SegmentHandle) {
    runtime.free_segment(DEVICE, segment).unwrap();
}

fn status<T: std::fmt::Debug>(result: Result<T, RuntimeError>) -> Status {
    result.map_or_else(|error| error.status, |_| Status::SUCCESS)
}

/// Allocates 8 times under a pattern; 1 where a call was served.
#[track_caller]
fn check_pattern(pattern: CallPattern, expected: [u8; 8]) {
    let plan = FaultPlan::new(5).fail(Operation::AllocateSegment, pattern, Status::HW_ERROR);
    let runtime = runtime(GIB, plan);
    let served = [(); 8].map(|()| u8::from(runtime.allocate_segment(DEVICE, MIB).is_ok()));
    assert_eq!(served, expected);
    let n_failed = served.iter().filter(|served| **served == 0).count() as u64;
    assert_eq!(faults(&runtime).allocations_failed, n_failed);
    assert_eq!(runtime.counters(DEVICE).held_bytes, (8 - n_failed) * MIB);
    assert_eq!(runtime.counters(DEVICE).segments_refused, 0);
}

#[test]
fn patterns_hit_the_calls_they_name() {
    check_pattern(CallPattern::Once(3), [1, 1, 0, 1, 1, 1, 1, 1]);
    check_pattern(CallPattern::Once(0), [1, 1, 1, 1, 1, 1, 1, 1]);
    check_pattern(CallPattern::From(6), [1, 1, 1, 1, 1, 0, 0, 0]);
    check_pattern(CallPattern::Every(3), [1, 1, 0, 1, 1, 0, 1, 1]);
    check_pattern(CallPattern::Every(0), [1, 1, 1, 1, 1, 1, 1, 1]);
    check_pattern(CallPattern::List(vec![7, 1]), [0, 1, 1, 1, 1, 1, 0, 1]);
    check_pattern(CallPattern::List(vec![]), [1, 1, 1, 1, 1, 1, 1, 1]);
    check_pattern(CallPattern::Chance { per_million: 0 }, [1, 1, 1, 1, 1, 1, 1, 1]);
    check_pattern(CallPattern::Chance { per_million: 1_000_000 }, [0, 0, 0, 0, 0, 0, 0, 0]);
    // Drawn, and pinned: a seed must mean the same in every version.
    check_pattern(CallPattern::Chance { per_million: 500_000 }, [1, 0, 0, 0, 0, 1, 1, 0]);
}

#[test]
fn a_chance_is_met_about_as_often_as_it_says() {
    let plan = |seed| {
        let chance = CallPattern::Chance { per_million: 250_000 };
        FaultPlan::new(seed).fail(Operation::MemoryInfo, chance, Status::FAILURE)
    };
    for seed in 0..20 {
        let runtime = runtime(GIB, plan(seed));
        let failed = (0..4_000).filter(|_| runtime.memory_info(DEVICE).is_err()).count() as u64;
        assert_eq!(faults(&runtime).memory_infos_failed, failed);
        // Five standard deviations of 4,000 throws at a quarter.
        assert!((863..=1137).contains(&failed), "seed {seed}: {failed}");
    }
}

#[test]
fn every_operation_can_fail_with_any_status_and_changes_nothing_then() {
    let once = || CallPattern::Once(1);
    let plan = FaultPlan::new(0)
        .fail(Operation::AllocateSegment, once(), Status::FAIL_HOST_MEM_ALLOC)
        .fail(Operation::FreeSegment, once(), Status(1005))
        .fail(Operation::Slice, once(), Status::TIMEOUT)
        .fail(Operation::FreeSlice, once(), Status::FAILURE)
        .fail(Operation::MemoryInfo, once(), Status(77));
    let runtime = runtime(GIB, plan);
    assert_eq!(status(runtime.allocate_segment(DEVICE, MIB)), Status::FAIL_HOST_MEM_ALLOC);
    let segment = place(&runtime, 1);
    assert_eq!(status(runtime.slice(DEVICE, segment, 0, MIB)), Status::TIMEOUT);
    let slice = runtime.slice(DEVICE, segment, 0, MIB).unwrap();
    assert_eq!(status(runtime.free_slice(DEVICE, slice)), Status::FAILURE);
    assert_eq!(status(runtime.free_slice(DEVICE, slice)), Status::SUCCESS);
    assert_eq!(status(runtime.free_segment(DEVICE, segment)), Status(1005));
    assert_eq!(runtime.counters(DEVICE).held_bytes, MIB);
    assert_eq!(status(runtime.memory_info(DEVICE)), Status(77));
    assert_eq!(runtime.memory_info(DEVICE).unwrap().used_bytes, MIB);
    free(&runtime, segment);
    let c = runtime.counters(DEVICE);
    assert_eq!((c.segments_allocated, c.segments_freed, c.slices_made, c.slices_freed), (1, 1, 1, 1));
    let f = c.faults;
    let failed =
        [f.allocations_failed, f.frees_failed, f.slices_failed, f.slice_frees_failed, f.memory_infos_failed];
    assert_eq!(failed, [1; 5]);
    assert_eq!(runtime.largest_gap_bytes(DEVICE), GIB);
}

#[test]
fn the_first_rule_that_hits_decides_and_success_is_no_failure() {
    let plan = FaultPlan::new(0)
        .fail(Operation::AllocateSegment, CallPattern::From(1), Status::SUCCESS)
        .fail(Operation::AllocateSegment, CallPattern::Once(2), Status::HW_ERROR)
        .fail(Operation::AllocateSegment, CallPattern::From(2), Status::RESOURCE);
    let runtime = runtime(GIB, plan);
    let answers = [(); 3].map(|()| status(runtime.allocate_segment(DEVICE, MIB)));
    assert_eq!(answers, [Status::SUCCESS, Status::HW_ERROR, Status::RESOURCE]);
}

#[test]
fn devices_count_their_own_calls_and_a_rule_may_name_one() {
    let plan = FaultPlan::new(0)
        .fail_on(DeviceId(1), Operation::AllocateSegment, CallPattern::Once(1), Status::HW_ERROR)
        .fail(Operation::AllocateSegment, CallPattern::Once(2), Status::TIMEOUT);
    let runtime = SimulatedRuntime::builder().devices(2).faults(plan).build();
    let answer = |device| status(runtime.allocate_segment(DeviceId(device), MIB));
    assert_eq!([answer(0), answer(0), answer(0)], [Status::SUCCESS, Status::TIMEOUT, Status::SUCCESS]);
    assert_eq!([answer(1), answer(1), answer(1)], [Status::HW_ERROR, Status::TIMEOUT, Status::SUCCESS]);
    assert_eq!(answer(2), Status::INVALID);
}

#[test]
fn a_neighbour_takes_the_top_after_its_period_and_the_rest_when_it_gets_free() {
    let plan = FaultPlan::new(0).noisy_neighbour(FaultSpan::Calls(3), 4 * MIB..=4 * MIB);
    let runtime = runtime(10 * MIB, plan);
    let base = runtime.address_range(DEVICE).unwrap().start;
    let (a, b) = (place(&runtime, 4), place(&runtime, 4));
    assert_eq!(faults(&runtime).neighbour_bytes, 0);
    // Call 3: only the upper 2 MiB are free.
    assert_eq!(runtime.memory_info(DEVICE).unwrap().used_bytes, 10 * MIB);
    assert_eq!((faults(&runtime).neighbour_bytes, faults(&runtime).neighbour_moves), (2 * MIB, 1));
    free(&runtime, b);
    // Call 5: it takes what it missed, from the top of b.
    let c = runtime.allocate_segment(DEVICE, 2 * MIB).unwrap();
    assert_eq!((faults(&runtime).neighbour_bytes, faults(&runtime).neighbour_moves), (4 * MIB, 2));
    assert_eq!(c.address - base, 4 * MIB);
    assert_eq!(runtime.free_bytes(DEVICE), 0);
    free(&runtime, a);
    free(&runtime, c.handle);
    assert_eq!(runtime.largest_gap_bytes(DEVICE), 6 * MIB);
    runtime.stop_faults();
    assert_eq!(runtime.largest_gap_bytes(DEVICE), 10 * MIB);
    assert_eq!(faults(&runtime).neighbour_bytes, 0);
}

#[test]
fn a_neighbour_grows_and_shrinks_by_its_seed_alone() {
    let levels = |seed: u64, period, step_ns, max_bytes| {
        let clock = VirtualClock::new();
        let plan = FaultPlan::new(seed).noisy_neighbour(period, 0..=max_bytes);
        let runtime = SimulatedRuntime::builder().memory_bytes(GIB).faults(plan).clock(clock.clone()).build();
        [(); 8].map(|()| {
            clock.advance_ns(step_ns);
            runtime.memory_info(DEVICE).unwrap().used_bytes
        })
    };
    // Two calls a level, from the second call on.
    let by_calls = levels(2, FaultSpan::Calls(2), 0, MIB);
    assert_eq!(by_calls, levels(2, FaultSpan::Calls(2), 7, MIB));
    assert_eq!(by_calls[0], 0);
    assert!([1, 3, 5].iter().all(|idx: &usize| by_calls[*idx] == by_calls[idx + 1]));
    assert!(by_calls.iter().all(|level| level % 64 == 0 && *level <= MIB));
    assert!(
        by_calls.windows(2).any(|pair| pair[0] > pair[1])
            && by_calls.windows(2).any(|pair| pair[0] < pair[1])
    );
    // The same levels by time: 10 ns a period, 5 ns a call.
    assert_eq!(by_calls, levels(2, FaultSpan::Nanoseconds(10), 5, MIB));
    assert_eq!(levels(2, FaultSpan::Nanoseconds(10), 0, MIB), [0; 8]);
    // 64 bytes are the grain.
    assert!(levels(2, FaultSpan::Calls(1), 0, 100).iter().all(|level| [0, 64, 128].contains(level)));
    let distinct: BTreeSet<_> = (0..50).map(|seed| levels(seed, FaultSpan::Calls(1), 0, MIB)).collect();
    assert_eq!(distinct.len(), 50);
}

#[test]
fn at_lnc_1_the_noise_comes_on_top_of_the_neighbours_half() {
    let plan = FaultPlan::new(0).noisy_neighbour(FaultSpan::Calls(1), GIB..=GIB);
    let runtime = SimulatedRuntime::builder().preset(Preset::Trn2).lnc(Lnc::One).faults(plan).build();
    assert_eq!(runtime.memory_info(DEVICE).unwrap().used_bytes, 13 * GIB);
    assert_eq!(runtime.largest_gap_bytes(DEVICE), 11 * GIB);
}

#[test]
fn the_runtime_grows_at_its_calls_by_what_is_free() {
    let plan = FaultPlan::new(0).grow_runtime(2, 3 * MIB).grow_runtime(2, MIB).grow_runtime(5, 100 * MIB);
    let runtime = runtime(10 * MIB, plan);
    place(&runtime, 2);
    assert_eq!(runtime.largest_gap_bytes(DEVICE), 8 * MIB);
    assert_eq!(status(runtime.allocate_segment(DEVICE, 5 * MIB)), Status::RESOURCE);
    assert_eq!((faults(&runtime).growths, faults(&runtime).growth_bytes), (2, 4 * MIB));
    place(&runtime, 2);
    place(&runtime, 1);
    assert_eq!(runtime.memory_info(DEVICE).unwrap().used_bytes, 10 * MIB);
    assert_eq!((faults(&runtime).growths, faults(&runtime).growth_bytes), (3, 5 * MIB));
    // It keeps what it has until the faults are over.
    runtime.stop_faults();
    assert_eq!(faults(&runtime).growth_bytes, 0);
    assert_eq!(runtime.free_bytes(DEVICE), 5 * MIB);
}

#[test]
fn cached_memory_starves_the_load_of_a_model() {
    let runtime = runtime(10 * MIB, FaultPlan::new(0));
    let (a, b) = (place(&runtime, 4), place(&runtime, 4));
    let error = runtime.load_model(DEVICE, 3 * MIB).unwrap_err();
    let status = Status::RESOURCE;
    let largest_gap_bytes = 2 * MIB;
    assert_eq!(
        error,
        SimulatorError::ModelLoad { device: DEVICE, bytes: 3 * MIB, status, largest_gap_bytes }
    );
    assert_eq!(
        error.to_string(),
        "load of a model of 3145728 bytes on device 0 failed: NRT_RESOURCE (4), largest gap 2097152 bytes"
    );
    free(&runtime, a);
    let model = runtime.load_model(DEVICE, 3 * MIB).unwrap();
    assert_eq!(runtime.largest_gap_bytes(DEVICE), 2 * MIB);
    assert_eq!(runtime.memory_info(DEVICE).unwrap().used_bytes, 7 * MIB);
    let second = runtime.load_model(DEVICE, 2 * MIB).unwrap(); // the higher of the two gaps
    assert_eq!(runtime.free_bytes(DEVICE), MIB);
    free(&runtime, b);
    runtime.stop_faults(); // models are no fault
    assert_eq!((faults(&runtime).models_loaded, faults(&runtime).models_refused), (2, 1));
    assert_eq!(faults(&runtime).model_bytes, 5 * MIB);
    runtime.unload_model(DEVICE, model).unwrap();
    assert_eq!(
        runtime.unload_model(DEVICE, model),
        Err(SimulatorError::UnknownModel { device: DEVICE, model })
    );
    runtime.unload_model(DEVICE, second).unwrap();
    assert_eq!((faults(&runtime).model_bytes, runtime.largest_gap_bytes(DEVICE)), (0, 10 * MIB));
    let refused = |device, bytes| match runtime.load_model(device, bytes) {
        Err(SimulatorError::ModelLoad { status, .. }) => status,
        other => panic!("{other:?}"),
    };
    assert_eq!((refused(DEVICE, 0), refused(DeviceId(3), 1)), (Status::INVALID, Status::INVALID));
}

#[test]
fn a_model_lies_at_the_top_and_leaves_addresses_aligned() {
    let runtime = runtime(1024, FaultPlan::new(0));
    let base = runtime.address_range(DEVICE).unwrap().start;
    let model = runtime.load_model(DEVICE, 100).unwrap();
    assert_eq!(faults(&runtime).model_bytes, 128);
    let below = runtime.allocate_segment(DEVICE, 896).unwrap();
    assert_eq!(below.address, base);
    runtime.unload_model(DEVICE, model).unwrap();
    assert_eq!(runtime.allocate_segment(DEVICE, 128).unwrap().address, base + 896);
}

#[test]
fn devices_draw_their_own_numbers() {
    let chance = CallPattern::Chance { per_million: 500_000 };
    let plan = FaultPlan::new(4)
        .fail(Operation::MemoryInfo, chance.clone(), Status::FAILURE)
        .fail(Operation::FreeSlice, chance, Status::FAILURE)
        .noisy_neighbour(FaultSpan::Calls(1), 0..=GIB)
        .random_start();
    let runtime = SimulatedRuntime::builder().devices(2).faults(plan).build();
    let run = |device: u32| {
        let device = DeviceId(device);
        let base = runtime.address_range(device).unwrap().start;
        let infos: Vec<bool> = (0..64).map(|_| runtime.memory_info(device).is_ok()).collect();
        let segment = runtime.allocate_segment(device, MIB).unwrap();
        let slice = || runtime.slice(device, segment.handle, 0, 64).unwrap();
        let frees: Vec<bool> = (0..64).map(|_| runtime.free_slice(device, slice()).is_ok()).collect();
        (infos, frees, segment.address - base, runtime.counters(device).faults.neighbour_bytes)
    };
    let (first, second) = (run(0), run(1));
    assert_ne!(first.0, second.0);
    assert_ne!(first.1, second.1);
    assert_ne!(first.0, first.1); // two rules of one device
    assert!(first.2 != second.2 && first.3 != second.3);
}

#[test]
fn a_slow_free_comes_back_after_so_many_further_calls() {
    let runtime = runtime(4 * MIB, FaultPlan::new(0).slow_frees(FaultSpan::Calls(2)));
    let a = place(&runtime, 4);
    free(&runtime, a);
    assert_eq!(status(runtime.free_segment(DEVICE, a)), Status::INVALID_HANDLE); // further call 1
    let c = runtime.counters(DEVICE);
    assert_eq!(
        (c.segments_freed, c.held_bytes, c.faults.slow_frees, c.faults.slow_bytes),
        (1, 4 * MIB, 1, 4 * MIB)
    );
    assert_eq!(status(runtime.allocate_segment(DEVICE, 4 * MIB)), Status::RESOURCE); // 2
    assert_eq!(status(runtime.allocate_segment(DEVICE, 4 * MIB)), Status::SUCCESS); // 3
    assert_eq!(runtime.counters(DEVICE).faults.slow_bytes, 0);
}

#[test]
fn a_slow_free_comes_back_after_so_much_time_or_when_settled() {
    let cost = CostModel { allocate_ns: 10, ..CostModel::default() };
    let plan = FaultPlan::new(0).slow_frees(FaultSpan::Nanoseconds(20));
    let runtime = SimulatedRuntime::builder().memory_bytes(4 * MIB).cost(cost).faults(plan).build();
    let a = place(&runtime, 4); // at 10
    free(&runtime, a);
    assert_eq!(status(runtime.allocate_segment(DEVICE, MIB)), Status::RESOURCE); // at 20
    let b = place(&runtime, 1); // at 30
    free(&runtime, b);
    assert_eq!(runtime.counters(DEVICE).held_bytes, MIB);
    runtime.settle();
    assert_eq!(runtime.counters(DEVICE).held_bytes, 0);
    assert_eq!(runtime.largest_gap_bytes(DEVICE), 4 * MIB);
}

#[test]
fn a_slow_free_starts_with_the_last_slice() {
    let runtime = runtime(4 * MIB, FaultPlan::new(0).slow_frees(FaultSpan::Calls(0)));
    let a = place(&runtime, 4);
    let slice = runtime.slice(DEVICE, a, 0, 64).unwrap();
    free(&runtime, a);
    assert_eq!(status(runtime.allocate_segment(DEVICE, MIB)), Status::RESOURCE);
    assert_eq!(faults(&runtime).slow_frees, 0);
    runtime.free_slice(DEVICE, slice).unwrap();
    assert_eq!(faults(&runtime).slow_bytes, 4 * MIB);
    assert_eq!(status(runtime.allocate_segment(DEVICE, MIB)), Status::SUCCESS);
}

#[test]
fn pinholes_cut_the_device_although_the_sum_is_free() {
    let runtime = runtime(10 * MIB, FaultPlan::new(0).pinholes(4, 65));
    assert_eq!(faults(&runtime).pinhole_bytes, 256); // at 4 and 8 MiB, in whole 64 bytes
    assert_eq!(runtime.free_bytes(DEVICE), 10 * MIB - 256);
    assert_eq!(status(runtime.allocate_segment(DEVICE, 4 * MIB + 64)), Status::RESOURCE);
    let base = runtime.address_range(DEVICE).unwrap().start;
    let addresses = [4, 2, 2].map(|mib| {
        let bytes = if mib == 4 { 4 * MIB } else { mib * MIB - 128 };
        runtime.allocate_segment(DEVICE, bytes).unwrap().address - base
    });
    assert_eq!(addresses, [0, 4 * MIB + 128, 6 * MIB]);
    assert_eq!(runtime.memory_info(DEVICE).unwrap().used_bytes, 8 * MIB - 256 + 256);
    runtime.stop_faults();
    assert_eq!(faults(&runtime).pinhole_bytes, 0);
    // Larger than their distance they fill the device but for the start.
    let full = self::runtime(10 * MIB, FaultPlan::new(0).pinholes(2, u64::MAX));
    assert_eq!(full.free_bytes(DEVICE), 2 * MIB);
}

#[test]
fn a_random_start_scatters_segments_and_loses_none() {
    let addresses = |seed| {
        let runtime = runtime(64 * MIB, FaultPlan::new(seed).random_start());
        let base = runtime.address_range(DEVICE).unwrap().start;
        // A segment rules out less than 2 MiB of starts, so 21 of them fit wherever they land.
        let addresses = [(); 21].map(|()| runtime.allocate_segment(DEVICE, MIB).unwrap().address - base);
        assert!(addresses.iter().all(|address| address % 64 == 0 && *address <= 63 * MIB));
        addresses
    };
    assert_eq!(addresses(9), addresses(9));
    assert_ne!(addresses(9), addresses(10));
    let runtime = runtime(4 * MIB, FaultPlan::new(2).random_start());
    // One gap of the whole device: found wherever the search starts.
    for _ in 0..100 {
        let all = place(&runtime, 4);
        free(&runtime, all);
    }
}

#[test]
fn four_gib_and_more_overflow_old_runtimes() {
    let runtime = SimulatedRuntime::builder().faults(FaultPlan::new(0).four_gib_overflow()).build();
    assert_eq!(status(runtime.allocate_segment(DEVICE, 4 * GIB - 1)), Status::SUCCESS);
    assert_eq!(status(runtime.allocate_segment(DEVICE, 4 * GIB)), Status::INVALID);
    assert_eq!(status(runtime.allocate_segment(DEVICE, u64::MAX)), Status::INVALID);
    assert_eq!((faults(&runtime).overflows_refused, runtime.counters(DEVICE).segments_refused), (2, 0));
    runtime.stop_faults();
    assert_eq!(status(runtime.allocate_segment(DEVICE, 4 * GIB)), Status::SUCCESS);
}

#[test]
fn calls_wait_for_initialisation() {
    let runtime = runtime(4 * MIB, FaultPlan::new(0).uninitialized().grow_runtime(1, MIB));
    assert_eq!(status(runtime.allocate_segment(DEVICE, MIB)), Status::UNINITIALIZED);
    assert_eq!(status(runtime.memory_info(DEVICE)), Status::UNINITIALIZED);
    assert!(runtime.load_model(DEVICE, MIB).is_err());
    assert_eq!((faults(&runtime).calls_refused_by_state, faults(&runtime).growths), (3, 0));
    runtime.initialize().unwrap();
    runtime.initialize().unwrap();
    place(&runtime, 1); // the first call that counts
    assert_eq!((faults(&runtime).calls_refused_by_state, faults(&runtime).growths), (3, 1));
}

#[test]
fn closing_takes_all_memory_of_the_process_back_and_is_final() {
    let plan = FaultPlan::new(0).grow_runtime(1, MIB).slow_frees(FaultSpan::Calls(9)).pinholes(8, 64);
    let runtime = runtime(16 * MIB, plan);
    let (a, b) = (place(&runtime, 2), place(&runtime, 2));
    let slice = runtime.slice(DEVICE, a, 0, MIB).unwrap();
    let slice_of_freed = runtime.slice(DEVICE, b, 0, MIB).unwrap();
    free(&runtime, b);
    let c = place(&runtime, 1);
    free(&runtime, c);
    let model = runtime.load_model(DEVICE, MIB).unwrap();
    runtime.close();
    runtime.close();
    let counters = runtime.counters(DEVICE);
    assert_eq!((counters.held_bytes, counters.faults.segments_closed), (0, 1)); // a; b and c were freed
    assert_eq!((counters.faults.slow_bytes, counters.faults.growth_bytes), (0, 0));
    assert_eq!(runtime.free_bytes(DEVICE), 16 * MIB - 64);
    assert_eq!(status(runtime.free_segment(DEVICE, a)), Status::CLOSED);
    assert_eq!(status(runtime.free_slice(DEVICE, slice)), Status::CLOSED);
    assert_eq!(status(runtime.free_slice(DEVICE, slice_of_freed)), Status::CLOSED);
    assert_eq!(status(runtime.allocate_segment(DEVICE, MIB)), Status::CLOSED);
    assert!(runtime.unload_model(DEVICE, model).is_err());
    assert_eq!(runtime.initialize(), Err(SimulatorError::Closed));
    assert_eq!(faults(&runtime).calls_refused_by_state, 4);
    runtime.stop_faults();
    assert_eq!(runtime.largest_gap_bytes(DEVICE), 16 * MIB);
}

#[test]
fn an_empty_plan_changes_no_answer_and_counts_nothing() {
    let trace = |runtime: SimulatedRuntime| {
        let mut lines = Vec::new();
        let mut held = Vec::new();
        for step in 1..60u64 {
            let answer = runtime.allocate_segment(DEVICE, step * 5_000);
            lines.push(format!("{answer:?}"));
            held.extend(answer);
            if step % 3 == 0 {
                lines.push(format!("{:?}", runtime.free_segment(DEVICE, held.remove(0).handle)));
            }
            lines.push(format!("{:?} {}", runtime.memory_info(DEVICE), runtime.largest_gap_bytes(DEVICE)));
        }
        (lines, runtime.counters(DEVICE))
    };
    let plain = trace(SimulatedRuntime::builder().memory_bytes(MIB).build());
    assert!(FaultPlan::new(77).is_empty());
    assert_eq!(plain, trace(runtime(MIB, FaultPlan::new(77))));
    assert_eq!(plain.1.faults, FaultCounters::default());
    assert!(plain.1.segments_refused > 0);
}
