//! Every number and rule of the guidelines for memory management that concerns device memory,
//! through the facade. Each test is named after the section that it comes from.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem::config::AllocatorConfig;
use neuronx_mem::sim::SimulatedRuntime;
use neuronx_mem::stats::{Family, Scope};
use neuronx_mem::{AllocError, Allocator, Block, Device, DeviceId, StepKind, Stream};

const MIB: u64 = 1 << 20;

struct Setup {
    allocator: Allocator,
    device: Device,
    stream: Stream,
}

fn setup_with(config: &str, memory_bytes: u64, is_recovery_enabled: bool) -> Setup {
    let runtime = SimulatedRuntime::builder().memory_bytes(memory_bytes).build();
    let allocator = Allocator::builder()
        .runtime(runtime)
        .config(AllocatorConfig::parse(config).config)
        .oom_recovery(is_recovery_enabled)
        .build()
        .unwrap();
    let device = allocator.device(DeviceId(0)).unwrap().clone();
    let stream = device.default_stream();
    Setup { allocator, device, stream }
}

fn setup(config: &str) -> Setup {
    setup_with(config, 24 << 30, true)
}

impl Setup {
    fn allocate(&self, bytes: u64) -> Block {
        self.allocator.allocate(bytes, &self.stream).unwrap()
    }

    fn segments(&self) -> Vec<u64> {
        self.device.inspect(|pool| pool.segments().map(|segment| segment.bytes).collect())
    }
}

#[test]
fn device_memory_requests_smaller_than_1_mb_go_to_the_small_pool() {
    let setup = setup("");
    let _small = setup.allocate(MIB - 1);
    assert_eq!(setup.segments(), [2 * MIB]);
    let _large = setup.allocate(MIB);
    assert_eq!(setup.segments(), [2 * MIB, 64 * MIB]);
    let stats = setup.device.memory_stats();
    let current = |scope| stats.values(Family::AllocatedBytes, scope).current;
    assert_eq!((current(Scope::SmallPool), current(Scope::LargePool)), (MIB, MIB));
}

#[test]
fn device_memory_requests_below_16_mb_are_rounded_with_a_floor_of_256_bytes() {
    let setup = setup("");
    let sizes = [1, 256, 257, 1000, 5 * MIB + 1, 16 * MIB - 1, 16 * MIB, 16 * MIB + 1];
    let blocks: Vec<u64> = sizes.iter().map(|bytes| setup.allocate(*bytes).block_bytes()).collect();
    assert_eq!(blocks, [256, 256, 320, 1024, 6 * MIB, 16 * MIB, 16 * MIB, 16 * MIB + 1]);
}

#[test]
fn device_memory_reserved_allocated_active() {
    let setup = setup("");
    let _held = [setup.allocate(1000), setup.allocate(5 * MIB + 1)];
    let stats = setup.device.memory_stats();
    let current = |family| stats.values(family, Scope::All).current;
    assert_eq!(current(Family::ReservedBytes), 66 * MIB);
    assert_eq!(current(Family::AllocatedBytes), 1024 + 6 * MIB);
    assert_eq!(current(Family::ActiveBytes), 1000 + 5 * MIB + 1);
}

#[test]
fn device_memory_a_freed_block_stays_in_its_segment() {
    let setup = setup("");
    let address = setup.allocate(4 * MIB).address();
    assert_eq!((setup.device.memory_allocated(), setup.device.memory_reserved()), (0, 64 * MIB));
    assert_eq!(setup.allocate(4 * MIB).address(), address);
    assert_eq!(setup.device.memory_stats().counters().device_allocations, 1);
}

#[test]
fn asynchronous_a_deallocation_runs_after_the_work_already_queued() {
    let setup = setup("");
    let block = setup.allocate(4 * MIB);
    let work = setup.stream.submit().unwrap();
    drop(block);
    // The read shows only completed work, and says so.
    assert_eq!(setup.device.memory_allocated(), 4 * MIB);
    assert!(!setup.device.memory_stats().is_settled());
    setup.stream.complete(work).unwrap();
    assert_eq!(setup.device.memory_allocated(), 0);
    assert!(setup.device.memory_stats().is_settled());
}

#[test]
fn asynchronous_memory_freed_on_one_stream_serves_any_other() {
    let setup = setup("");
    let other = setup.device.new_stream().unwrap();
    let address = setup.allocate(4 * MIB).address();
    let block = setup.allocator.allocate(4 * MIB, &other).unwrap();
    assert_eq!(block.address(), address);
}

#[test]
fn asynchronous_a_recorded_block_waits_for_the_last_stream() {
    let setup = setup("");
    let (other, third) = (setup.device.new_stream().unwrap(), setup.device.new_stream().unwrap());
    let block = setup.allocate(4 * MIB);
    block.record_stream(&other).unwrap();
    block.record_stream(&third).unwrap();
    block.record_stream(&other).unwrap(); // twice is once
    block.record_stream(&setup.stream).unwrap(); // its own is none
    let work = [&setup.stream, &other, &third].map(|stream| stream.submit().unwrap());
    drop(block);
    third.complete(work[2]).unwrap();
    setup.stream.complete(work[0]).unwrap();
    assert_eq!((setup.device.memory_allocated(), other.pending()), (4 * MIB, (1, 4 * MIB)));
    other.complete(work[1]).unwrap();
    assert_eq!(setup.device.memory_allocated(), 0);
}

#[test]
fn asynchronous_synchronize_runs_every_queued_deallocation() {
    let setup = setup("");
    let other = setup.device.new_stream().unwrap();
    for stream in [&setup.stream, &other] {
        let block = setup.allocator.allocate(MIB, stream).unwrap();
        stream.submit().unwrap();
        drop(block);
    }
    assert_eq!(setup.device.memory_allocated(), 2 * MIB);
    setup.device.synchronize();
    assert_eq!(setup.device.memory_allocated(), 0);
    assert_eq!(setup.device.memory_stats().counters().device_synchronizations, 1);
}

#[test]
fn oom_step_1_waits_for_the_same_stream_and_retries() {
    let setup = setup_with("", 64 * MIB, false);
    let block = setup.allocate(40 * MIB);
    setup.stream.submit().unwrap();
    drop(block);
    // Not of the same extent, so it cannot be taken over before the work is done.
    let again = setup.allocate(30 * MIB);
    assert_eq!(again.block_bytes(), 30 * MIB);
    let counters = setup.device.memory_stats().counters();
    assert_eq!((counters.alloc_retries, counters.ooms), (1, 0));
}

#[test]
fn oom_step_2_releases_cached_free_segments_and_retries() {
    let setup = setup_with("", 64 * MIB, true);
    drop(setup.allocate(40 * MIB));
    let block = setup.allocate(50 * MIB);
    assert_eq!(block.block_bytes(), 50 * MIB);
    let counters = setup.device.memory_stats().counters();
    assert_eq!((counters.alloc_retries, counters.ooms, counters.device_frees), (1, 0, 1));
}

#[test]
fn oom_step_2_can_be_disabled() {
    let setup = setup_with("", 64 * MIB, false);
    drop(setup.allocate(40 * MIB));
    let error = setup.allocator.allocate(50 * MIB, &setup.stream).unwrap_err();
    assert!(error.is_out_of_memory());
    let counters = setup.device.memory_stats().counters();
    assert_eq!((counters.alloc_retries, counters.ooms, counters.device_frees), (0, 1, 0));
    assert_eq!(counters.allocation_requests, 2);
}

#[test]
fn oom_both_steps_then_an_error_with_numbers() {
    let setup = setup_with("", 64 * MIB, true);
    let held = setup.allocate(20 * MIB);
    drop(setup.allocate(30 * MIB));
    setup.stream.submit().unwrap();
    let Err(AllocError::OutOfMemory(error)) = setup.allocator.allocate(50 * MIB, &setup.stream) else {
        panic!("50 MiB must not fit beside 20 MiB");
    };
    assert_eq!(
        (error.requested_bytes, error.total_bytes, error.reserved_bytes, error.allocated_bytes),
        (50 * MIB, 64 * MIB, 20 * MIB, 20 * MIB)
    );
    let steps: Vec<(StepKind, u64)> = error.steps.iter().map(|s| (s.kind, s.gained_bytes)).collect();
    assert_eq!(
        steps,
        [
            (StepKind::WaitForStream, 0),
            (StepKind::WaitForOtherStreams, 0),
            (StepKind::ReleaseSegments, 30 * MIB)
        ]
    );
    insta::assert_snapshot!(error.to_string(), @"Neuron out of memory: tried to allocate 50.00 MiB on device 0: total 64.00 MiB, reserved 20.00 MiB, allocated 20.00 MiB, cached free 0 bytes (largest block 0 bytes)");
    let counters = setup.device.memory_stats().counters();
    assert_eq!((counters.alloc_retries, counters.ooms), (2, 1));
    drop(held);
}

#[test]
fn empty_cache_synchronizes_and_releases_cached_free_segments() {
    let setup = setup("");
    let _held = setup.allocate(1);
    let block = setup.allocate(100 * MIB);
    setup.stream.submit().unwrap();
    drop(block);
    let released = setup.allocator.empty_cache().unwrap();
    assert_eq!((released.segments, released.bytes), (1, 100 * MIB));
    assert_eq!(setup.device.memory_reserved(), 2 * MIB);
}

#[test]
fn tune_do_not_split_above_512_mb_and_tolerate_64_mb() {
    let setup = setup("kMaxSplitSizeBytes=536870912,kMaxNonSplitRoundingBytes=67108864");
    let address = setup.allocate(600 * MIB).address();
    assert_ne!(setup.allocate(100 * MIB).address(), address);
    let reused = setup.allocate(536 * MIB);
    assert_eq!((reused.address(), reused.block_bytes()), (address, 600 * MIB));
    let stats = setup.device.memory_stats();
    assert_eq!((stats.oversize_allocations().current, stats.oversize_segments().current), (1, 1));
}

#[test]
fn tune_eight_divisions_round_in_finer_steps() {
    let default = setup("");
    let finer = setup("kRoundupPower2Divisions=8");
    let bytes = 5 * MIB + 1;
    assert_eq!(default.allocate(bytes).block_bytes(), 6 * MIB);
    assert_eq!(finer.allocate(bytes).block_bytes(), 5 * MIB + MIB / 2);
}

#[test]
fn zero_bytes_have_a_null_address_and_are_counted() {
    let setup = setup("");
    let block = setup.allocate(0);
    block.record_stream(&setup.device.new_stream().unwrap()).unwrap();
    assert_eq!((block.address(), block.block_bytes()), (0, 0));
    drop(block);
    let counters = setup.device.memory_stats().counters();
    assert_eq!((counters.allocation_requests, counters.tensor_frees, counters.device_allocations), (1, 0, 0));
}
