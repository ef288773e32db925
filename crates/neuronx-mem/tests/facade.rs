//! What only the facade can get wrong: ownership, threads, several devices, wrong calls, a
//! runtime that misbehaves.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use neuronx_mem::pool::PoolError;
use neuronx_mem::runtime::{
    MemoryInfo, Operation, RuntimeError, SegmentAllocation, SegmentHandle, SliceHandle, Status,
};
use neuronx_mem::sim::SimulatedRuntime;
use neuronx_mem::streams::{StreamError, StreamId, Ticket};
use neuronx_mem::{AllocError, Allocator, AllocatorConfig, BuildError, Device, DeviceId, DeviceRuntime};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn shared(runtime: &Arc<SimulatedRuntime>) -> Allocator {
    Allocator::builder().shared_runtime(runtime.clone()).build().unwrap()
}

fn first(allocator: &Allocator) -> Device {
    allocator.device(DeviceId(0)).unwrap().clone()
}

#[test]
fn the_runtime_gets_every_segment_back_when_the_last_owner_goes() {
    let runtime = Arc::new(SimulatedRuntime::default());
    let allocator = shared(&runtime);
    let block = allocator.allocate(3 * MIB, &first(&allocator).default_stream()).unwrap();
    drop(allocator);
    assert_eq!(runtime.counters(DeviceId(0)).held_bytes, 64 * MIB); // the block keeps its device
    drop(block);
    let counters = runtime.counters(DeviceId(0));
    assert_eq!((counters.held_bytes, counters.segments_freed), (0, 1));
}

#[test]
fn handles_are_freed_by_hand_and_only_once() {
    let allocator = shared(&Arc::new(SimulatedRuntime::default()));
    let device = first(&allocator);
    let block = allocator.allocate(1000, &device.default_stream()).unwrap();
    let handle = block.into_handle().unwrap();
    assert_eq!((handle.block_bytes, handle.extent_bytes, device.memory_allocated()), (1024, 1024, 1024));
    device.free_handle(handle).unwrap();
    let double = AllocError::Pool(PoolError::DoubleFree { id: handle.id });
    assert_eq!(device.free_handle(handle), Err(double));
    let again = device.allocate_handle(1000, StreamId::DEFAULT).unwrap().unwrap();
    let stale = AllocError::Pool(PoolError::StaleHandle { id: handle.id });
    assert_eq!(device.free_handle(handle), Err(stale));
    device.free_handle(again).unwrap();
    assert_eq!(device.allocate_handle(0, StreamId::DEFAULT), Ok(None));
}

#[test]
fn a_queued_free_is_pending_and_cannot_be_queued_again() {
    let allocator = shared(&Arc::new(SimulatedRuntime::default()));
    let device = first(&allocator);
    let handle = device.allocate_handle(1000, StreamId::DEFAULT).unwrap().unwrap();
    device.default_stream().submit().unwrap();
    device.free_handle(handle).unwrap();
    assert_eq!((device.usage().pending_bytes, device.memory_allocated()), (1024, 1024));
    let double = AllocError::Pool(PoolError::DoubleFree { id: handle.id });
    assert_eq!(device.free_handle(handle), Err(double.clone()));
    assert_eq!(device.record_stream_handle(handle, StreamId::DEFAULT), Err(double));
    device.default_stream().synchronize();
    assert_eq!(device.memory_allocated(), 0);
}

#[test]
fn semantics_5_a_request_reuses_what_waits_for_its_own_stream_only() {
    let runtime = Arc::new(SimulatedRuntime::builder().memory_bytes(GIB).build());
    let allocator = shared(&runtime);
    let device = first(&allocator);
    let (own, other) = (device.default_stream(), device.new_stream().unwrap());
    own.submit().unwrap();
    let block = device.allocate(100 * MIB, &own).unwrap();
    let address = block.address();
    drop(block); // queued behind work
    // Another stream must not have it before that work is done, and neither may another size.
    let elsewhere = device.allocate(100 * MIB, &other).unwrap();
    let smaller = device.allocate(90 * MIB, &own).unwrap();
    assert!(elsewhere.address() != address && smaller.address() != address);
    assert_eq!(device.memory_reserved(), 290 * MIB);
    let again = device.allocate(100 * MIB, &own).unwrap();
    assert_eq!((again.address(), device.memory_reserved(), own.pending()), (address, 290 * MIB, (0, 0)));
    // A block that another stream uses too waits for both.
    again.record_stream(&other).unwrap();
    other.submit().unwrap();
    drop(again);
    assert_ne!(device.allocate(100 * MIB, &own).unwrap().address(), address);
    device.synchronize();
    device.inspect(|pool| pool.validate()).unwrap();
    drop((elsewhere, smaller));
    let stats = device.memory_stats();
    assert_eq!(stats.counters().tensor_frees, 5);
    assert!(stats.is_settled());
}

#[test]
fn devices_are_separate() {
    let runtime = Arc::new(SimulatedRuntime::builder().devices(2).build());
    let allocator = shared(&runtime);
    let [one, two] = [0, 1].map(|id| allocator.device(DeviceId(id)).unwrap().clone());
    let block = allocator.allocate(MIB, &two.default_stream()).unwrap();
    assert_eq!((block.device_id(), one.memory_reserved(), two.memory_reserved()), (DeviceId(1), 0, 64 * MIB));
    assert_eq!(
        block.record_stream(&one.default_stream()),
        Err(AllocError::ForeignStream { stream_device: DeviceId(0), block_device: DeviceId(1) })
    );
    let unknown = AllocError::UnknownDevice { device: DeviceId(2), n_devices: 2 };
    assert_eq!(allocator.device(DeviceId(2)).unwrap_err(), unknown);
    drop(block);
    assert_eq!(allocator.empty_cache().unwrap().bytes, 64 * MIB);
}

#[test]
fn streams_of_another_allocator_are_refused() {
    let runtime = Arc::new(SimulatedRuntime::default());
    let (ours, theirs) = (shared(&runtime), shared(&runtime));
    let foreign = first(&theirs).default_stream();
    let error = ours.allocate(1, &foreign).unwrap_err();
    assert_eq!(error, AllocError::ForeignStream { stream_device: DeviceId(0), block_device: DeviceId(0) });
    let unknown = StreamError::UnknownStream { stream: StreamId(5), n_streams: 1 };
    assert_eq!(first(&ours).allocate_handle(1, StreamId(5)), Err(AllocError::Stream(unknown)));
    let early = StreamError::CompletedBeforeSubmitted { stream: StreamId(0), completed: 1, submitted: 0 };
    assert_eq!(foreign.complete(Ticket(1)), Err(AllocError::Stream(early)));
}

#[test]
fn streams_off_makes_every_stream_the_default_one() {
    let runtime = SimulatedRuntime::default();
    let allocator = Allocator::builder().runtime(runtime).streams(false).build().unwrap();
    assert_eq!(first(&allocator).new_stream().unwrap().id(), StreamId::DEFAULT);
}

#[test]
fn launch_blocking_completes_each_submission() {
    let runtime = SimulatedRuntime::default();
    let allocator = Allocator::builder().runtime(runtime).launch_blocking(true).build().unwrap();
    let stream = first(&allocator).default_stream();
    let block = allocator.allocate(MIB, &stream).unwrap();
    stream.submit().unwrap();
    drop(block);
    assert_eq!((stream.is_idle(), first(&allocator).memory_allocated()), (true, 0));
}

#[test]
fn the_environment_sets_keys_and_switches() {
    use neuronx_mem::config::Environment;
    let environment = Environment::from_pairs([
        ("TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG", "kMinRoundedSize=4096,kUnknown=1"),
        ("TORCH_NEURONX_ENABLE_STREAMS", "0"),
        ("NEURON_LAUNCH_BLOCKING", "1"),
        ("NEURON_OOM_RECOVERY_ENABLED", "0"),
    ]);
    let runtime = SimulatedRuntime::builder().memory_bytes(64 * MIB).build();
    let allocator = Allocator::builder().runtime(runtime).environment(&environment).build().unwrap();
    let device = first(&allocator);
    let stream = device.new_stream().unwrap();
    assert_eq!(stream.id(), StreamId::DEFAULT);
    stream.submit().unwrap();
    assert!(stream.is_idle());
    drop(allocator.allocate(40 * MIB, &stream).unwrap());
    let AllocError::OutOfMemory(error) = allocator.allocate(50 * MIB, &stream).unwrap_err() else {
        panic!("50 MiB must not fit beside a cached segment of 40 MiB");
    };
    assert_eq!((error.is_recovery_enabled, error.config.min_rounded_bytes()), (false, 4096));
}

#[test]
fn building_needs_a_runtime_with_a_device() {
    assert_eq!(Allocator::builder().build().unwrap_err(), BuildError::NoRuntime);
    let none = SimulatedRuntime::builder().devices(0).build();
    assert_eq!(Allocator::builder().runtime(none).build().unwrap_err(), BuildError::NoDevice);
}

#[test]
fn sizes_near_the_top_are_typed_and_counted() {
    let allocator = shared(&Arc::new(SimulatedRuntime::default()));
    let stream = first(&allocator).default_stream();
    let error = allocator.allocate(u64::MAX, &stream).unwrap_err();
    assert_eq!(error, AllocError::SizeOverflow { requested_bytes: u64::MAX });
    assert!(allocator.allocate(1 << 62, &stream).unwrap_err().is_out_of_memory());
    assert_eq!(first(&allocator).memory_stats().counters().allocation_requests, 2);
}

#[test]
fn printing_a_block_is_short() {
    let allocator = shared(&Arc::new(SimulatedRuntime::default()));
    let block = allocator.allocate(1, &first(&allocator).default_stream()).unwrap();
    assert!(format!("{block:?} {allocator:?}").len() < 1500);
}

/// Answers with a fixed status, or with a segment where there is one already.
#[derive(Debug)]
struct Broken {
    status: Status,
    frees: AtomicU64,
}

impl DeviceRuntime for Broken {
    fn n_devices(&self) -> u32 {
        1
    }

    fn allocate_segment(&self, device: DeviceId, bytes: u64) -> Result<SegmentAllocation, RuntimeError> {
        if self.status == Status::SUCCESS {
            return Ok(SegmentAllocation { handle: SegmentHandle(1), address: 4096 });
        }
        Err(RuntimeError::new(Operation::AllocateSegment, device, self.status, bytes))
    }

    fn free_segment(&self, _: DeviceId, _: SegmentHandle) -> Result<(), RuntimeError> {
        self.frees.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn slice(&self, _: DeviceId, _: SegmentHandle, _: u64, _: u64) -> Result<SliceHandle, RuntimeError> {
        Ok(SliceHandle(1))
    }

    fn free_slice(&self, _: DeviceId, _: SliceHandle) -> Result<(), RuntimeError> {
        Ok(())
    }

    fn memory_info(&self, device: DeviceId) -> Result<MemoryInfo, RuntimeError> {
        Err(RuntimeError::new(Operation::MemoryInfo, device, Status::CLOSED, 0))
    }

    fn address_range(&self, _: DeviceId) -> Option<Range<u64>> {
        None
    }
}

fn broken(status: Status) -> (Allocator, Arc<Broken>) {
    let runtime = Arc::new(Broken { status, frees: AtomicU64::new(0) });
    let allocator = Allocator::builder().shared_runtime(runtime.clone()).build().unwrap();
    (allocator, runtime)
}

#[test]
fn semantics_6_any_other_status_fails_at_once() {
    for status in [Status::FAILURE, Status::HW_ERROR, Status::FAIL_HOST_MEM_ALLOC, Status(999)] {
        let (allocator, _) = broken(status);
        let error = allocator.allocate(MIB, &first(&allocator).default_stream()).unwrap_err();
        let expected = RuntimeError::new(Operation::AllocateSegment, DeviceId(0), status, 64 * MIB);
        assert_eq!(error, AllocError::Runtime(expected));
        let counters = first(&allocator).memory_stats().counters();
        assert_eq!((counters.alloc_retries, counters.ooms, counters.allocation_requests), (0, 0, 1));
    }
}

#[test]
fn semantics_6_an_error_without_memory_info_still_has_the_other_numbers() {
    let (allocator, _) = broken(Status::RESOURCE);
    let error = allocator.allocate(MIB, &first(&allocator).default_stream()).unwrap_err();
    let AllocError::OutOfMemory(error) = error else { panic!("{error}") };
    assert_eq!((error.total_bytes, error.requested_bytes, error.segment_bytes), (0, MIB, 64 * MIB));
}

#[test]
fn a_segment_that_overlaps_goes_back_to_the_runtime() {
    let (allocator, runtime) = broken(Status::SUCCESS);
    let stream = first(&allocator).default_stream();
    let _held = allocator.allocate(MIB, &stream).unwrap();
    let error = allocator.allocate(100 * MIB, &stream).unwrap_err();
    let overlap = PoolError::SegmentOverlap { address: 4096, segment_bytes: 100 * MIB };
    assert_eq!(error, AllocError::Pool(overlap));
    assert_eq!((runtime.frees.load(Ordering::Relaxed), first(&allocator).memory_reserved()), (1, 64 * MIB));
}

#[test]
fn threads_share_one_device() {
    let runtime = Arc::new(SimulatedRuntime::builder().memory_bytes(GIB).build());
    let allocator = shared(&runtime);
    let device = first(&allocator);
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let (allocator, device) = (&allocator, &device);
            scope.spawn(move || {
                let stream = device.new_stream().unwrap();
                let mut held = Vec::new();
                let mut random = thread + 1;
                for i in 0..3000u64 {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let bytes = 1 + (random >> 33) % (if i % 50 == 0 { 20 * MIB } else { 100_000 });
                    held.push(allocator.allocate(bytes, &stream).unwrap());
                    if held.len() > 12 {
                        let ticket = stream.submit().unwrap();
                        drop(held.swap_remove((random >> 40) as usize % 12));
                        stream.complete(ticket).unwrap();
                    }
                    if i % 500 == 0 {
                        device.empty_cache().unwrap();
                    }
                    let stats = device.memory_stats();
                    assert!(stats.counters().allocation_requests > i);
                }
            });
        }
    });
    device.synchronize();
    device.inspect(|pool| pool.validate()).unwrap();
    let counters = device.memory_stats().counters();
    assert_eq!((counters.allocation_requests, counters.tensor_frees, counters.ooms), (12_000, 12_000, 0));
    assert_eq!(device.memory_allocated(), 0);
    device.empty_cache().unwrap();
    assert_eq!(runtime.counters(DeviceId(0)).held_bytes, 0);
}

#[test]
fn a_config_is_fixed_for_the_allocators_life() {
    let config = AllocatorConfig::parse("kMinRoundedSize=4096").config;
    let allocator = Allocator::builder().runtime(SimulatedRuntime::default()).config(config).build().unwrap();
    let block = allocator.allocate(1, &first(&allocator).default_stream()).unwrap();
    assert_eq!(
        (block.block_bytes(), *allocator.config(), *first(&allocator).config()),
        (4096, config, config)
    );
}
