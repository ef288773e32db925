//! Faults that need a story: scattered addresses, a model beside the cache, a stalled stream.

use neuronx_mem::sim::{FaultPlan, SimulatedWork, WorkState};
use neuronx_mem::streams::Ticket;

use super::{DEVICE, GIB, MIB, allocator, check_invariants, check_returned, counter, first, shared_runtime};

/// A block of this size has a segment to itself.
const UNIT: u64 = 2 * GIB;

#[test]
fn scattered_addresses_run_out_although_the_sum_is_free() {
    let plan: FaultPlan = "seed=1 start=random".parse().unwrap();
    let runtime = shared_runtime(16 * GIB, &plan);
    let allocator = allocator(&runtime, true);
    let device = first(&allocator);
    let mut live = Vec::new();
    let error = loop {
        match allocator.allocate(UNIT, &device.default_stream()) {
            Ok(block) => live.push(block),
            Err(error) => break error,
        }
    };
    assert!(error.is_out_of_memory());
    assert!(live.len() < 8 && runtime.free_bytes(DEVICE) == 16 * GIB - live.len() as u64 * UNIT);
    assert!(runtime.free_bytes(DEVICE) >= UNIT && runtime.largest_gap_bytes(DEVICE) < UNIT);
    assert_eq!((counter(&device, "num_alloc_retries"), counter(&device, "num_ooms")), (1, 1));
    check_invariants(&device);
    drop((live, device, allocator));
    check_returned(&runtime, 0, 16 * GIB);
}

#[test]
fn cached_segments_starve_a_model_until_the_cache_is_emptied() {
    let runtime = shared_runtime(8 * GIB, &FaultPlan::default());
    let allocator = allocator(&runtime, true);
    let device = first(&allocator);
    let blocks = [(); 3].map(|()| allocator.allocate(UNIT, &device.default_stream()).unwrap());
    drop(blocks);
    assert!(runtime.load_model(DEVICE, 3 * GIB).is_err());
    assert_eq!(allocator.empty_cache().unwrap().bytes, 3 * UNIT);
    let model = runtime.load_model(DEVICE, 3 * GIB).unwrap();
    // The model's memory cannot be reserved by anybody: two segments are left of four.
    let blocks = [(); 3].map(|()| allocator.allocate(UNIT, &device.default_stream()).ok());
    assert_eq!(blocks.iter().flatten().count(), 2);
    assert_eq!((counter(&device, "num_alloc_retries"), counter(&device, "num_ooms")), (1, 1));
    check_invariants(&device);
    runtime.unload_model(DEVICE, model).unwrap();
    assert!(allocator.allocate(UNIT, &device.default_stream()).is_ok());
    drop((blocks, device, allocator));
    check_returned(&runtime, 0, 8 * GIB);
}

#[test]
fn a_stalled_stream_delays_its_own_blocks_only() {
    let plan: FaultPlan = "seed=3 work=100..900 stall=1:1".parse().unwrap();
    let mut work = plan.work();
    let runtime = shared_runtime(8 * GIB, &plan);
    let allocator = allocator(&runtime, true);
    let device = first(&allocator);
    let streams = [device.default_stream(), device.new_stream().unwrap(), device.new_stream().unwrap()];
    let submit = |work: &mut SimulatedWork, idx: usize| {
        let handle = work.submit(streams[idx].id().0);
        assert_eq!(streams[idx].submit().unwrap(), Ticket(handle.ticket));
        handle
    };
    let advance = |work: &mut SimulatedWork, ns: u64| {
        for done in work.advance_to(ns) {
            streams[done.stream as usize].complete(Ticket(done.n_completed)).unwrap();
        }
    };
    let stalled = allocator.allocate(MIB, &streams[1]).unwrap();
    let stalled_address = stalled.address();
    let stalled_work = submit(&mut work, 1);
    drop(stalled);
    for n_reused in 0..10_000 {
        let idx = if n_reused % 2 == 0 { 0 } else { 2 };
        let block = allocator.allocate(MIB, &streams[idx]).unwrap();
        assert_ne!(block.address(), stalled_address);
        submit(&mut work, idx);
        drop(block);
        let ns = work.next_completion_ns().unwrap();
        advance(&mut work, ns);
    }
    assert_eq!(work.state(stalled_work), WorkState::Stalled);
    assert_eq!(
        (streams[0].pending(), streams[1].pending(), streams[2].pending()),
        ((0, 0), (1, MIB), (0, 0))
    );
    // One block at a time beside the stalled one: a single segment has served all.
    assert_eq!(device.memory_reserved(), 64 * MIB);
    assert_eq!(device.memory_allocated(), MIB);
    work.release(1);
    let ns = work.next_completion_ns().unwrap();
    advance(&mut work, ns);
    assert_eq!((work.state(stalled_work), device.memory_allocated()), (WorkState::Completed, 0));
    assert!(device.memory_stats().is_settled());
    check_invariants(&device);
    drop((streams, device, allocator));
    check_returned(&runtime, 0, 8 * GIB);
}
