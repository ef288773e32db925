//! NeuronCachingAllocatorTest.cpp: pointers, reuse, recovery, and whose block is whose.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use neuronx_mem::AllocError;
use neuronx_mem::runtime::Operation;
use neuronx_mem::runtime::Status;
use neuronx_mem::sim::{CallPattern, FaultPlan};

use super::{DEVICE, MIB, device, device_with, stat};

#[test]
fn allocate_returns_valid_pointer() {
    let (_, device) = device(256);
    let block = device.allocate(1024, &device.default_stream()).unwrap();
    assert!(block.address() != 0 && block.address().is_multiple_of(64));
    assert!(block.block_bytes() >= 1024);
}

#[test]
fn allocate_zero_returns_null() {
    let (runtime, device) = device(256);
    let block = device.allocate(0, &device.default_stream()).unwrap();
    assert_eq!((block.address(), runtime.counters(DEVICE).segments_allocated), (0, 0));
    assert_eq!(stat(&device, "allocation_requests"), 1);
}

#[test]
fn recycle_and_reuses_same_size() {
    let (runtime, device) = device(256);
    let stream = device.default_stream();
    let first = device.allocate(20 * MIB, &stream).unwrap();
    let address = first.address();
    drop(first);
    let second = device.allocate(20 * MIB, &stream).unwrap();
    assert_eq!((second.address(), runtime.counters(DEVICE).segments_allocated), (address, 1));
}

/// Reversed by the guidelines: free blocks are split, so another size is served without a runtime call.
#[test]
fn different_sizes_not_recycled() {
    let (runtime, device) = device(256);
    let stream = device.default_stream();
    drop(device.allocate(20 * MIB, &stream).unwrap());
    let smaller = device.allocate(5 * MIB, &stream).unwrap();
    assert_eq!(runtime.counters(DEVICE).segments_allocated, 1);
    // A larger one is not.
    let larger = device.allocate(30 * MIB, &stream).unwrap();
    assert_eq!(runtime.counters(DEVICE).segments_allocated, 2);
    drop((smaller, larger));
}

/// The free list is now what is reserved and not allocated.
#[test]
fn freelist_size_tracking() {
    let (_, device) = device(256);
    let stream = device.default_stream();
    let blocks: Vec<_> = (0..3).map(|_| device.allocate(20 * MIB, &stream).unwrap()).collect();
    assert_eq!(device.usage().cached_free_bytes, 0);
    drop(blocks);
    assert_eq!(device.usage().cached_free_bytes, 60 * MIB);
    device.empty_cache().unwrap();
    assert_eq!(device.usage().cached_free_bytes, 0);
}

/// Reversed by the placement rules: of equal blocks the oldest segment's serves, not the last freed.
#[test]
fn lifo_order() {
    let (_, device) = device(256);
    let stream = device.default_stream();
    let [a, b] = [(); 2].map(|()| device.allocate(20 * MIB, &stream).unwrap());
    let oldest = a.address();
    drop(a);
    drop(b);
    assert_eq!(device.allocate(20 * MIB, &stream).unwrap().address(), oldest);
}

#[test]
fn allocate_oom_recovery() {
    let plan = FaultPlan::new(0).fail(Operation::AllocateSegment, CallPattern::Once(1), Status::RESOURCE);
    let (_, device) = device_with(256, &plan);
    let block = device.allocate(MIB, &device.default_stream()).unwrap();
    assert_ne!(block.address(), 0);
    assert_eq!((stat(&device, "num_alloc_retries"), stat(&device, "num_ooms")), (1, 0));
}

#[test]
fn oom_retry_triggers_shelves_cleanup() {
    let (_, device) = device(64);
    let stream = device.default_stream();
    // A collective keeps a tensor on its shelf until it is asked to let go.
    let shelf = Arc::new(std::sync::Mutex::new(Some(device.allocate(40 * MIB, &stream).unwrap())));
    let of_callback = Arc::clone(&shelf);
    let id = device.register_release_callback(move || drop(of_callback.lock().unwrap().take()));
    let block = device.allocate(40 * MIB, &stream).unwrap();
    assert_eq!((block.block_bytes(), device.release_callback_runs()), (40 * MIB, 1));
    assert_eq!((stat(&device, "num_alloc_retries"), stat(&device, "num_ooms")), (1, 0));
    assert!(device.unregister_release_callback(id));
}

/// In the source too it asserts that a normal allocation does *not* trigger it.
#[test]
fn alloc_triggers_shelves_cleanup() {
    let (_, device) = device(256);
    let runs = Arc::new(AtomicU64::new(0));
    let of_callback = Arc::clone(&runs);
    device.register_release_callback(move || {
        of_callback.fetch_add(1, Ordering::Relaxed);
    });
    let stream = device.default_stream();
    let _blocks: Vec<_> = (0..10).map(|_| device.allocate(MIB, &stream).unwrap()).collect();
    device.empty_cache().unwrap();
    assert_eq!((runs.load(Ordering::Relaxed), device.release_callback_runs()), (0, 0));
}

#[test]
fn allocate_throws_on_persistent_oom() {
    let plan = FaultPlan::new(0).fail(Operation::AllocateSegment, CallPattern::Every(1), Status::RESOURCE);
    let (_, device) = device_with(256, &plan);
    let error = device.allocate(MIB, &device.default_stream()).unwrap_err();
    assert!(error.is_out_of_memory());
    assert!(error.to_string().starts_with("Neuron out of memory: tried to allocate 1.00 MiB"), "{error}");
    assert_eq!(stat(&device, "num_ooms"), 1);
}

/// Where the source shares a tensor between owners, a block has one: who frees it twice is told.
#[test]
fn recycled_tensor_shared_between_old_and_new_owner() {
    let (_, device) = device(256);
    let stream = device.default_stream();
    let old = device.allocate(1000, &stream).unwrap().into_handle().unwrap();
    device.free_handle(old).unwrap();
    let new = device.allocate(1000, &stream).unwrap();
    assert_eq!(new.address(), old.address);
    assert!(matches!(device.free_handle(old), Err(AllocError::Pool(_))));
    assert_eq!(device.memory_allocated(), new.block_bytes());
}

#[test]
fn recycled_tensor_freed_when_no_references_remain() {
    let (runtime, device) = device(256);
    let block = device.allocate(20 * MIB, &device.default_stream()).unwrap();
    drop(device);
    assert_eq!(runtime.counters(DEVICE).segments_freed, 0);
    drop(block);
    let counters = runtime.counters(DEVICE);
    assert_eq!((counters.segments_freed, counters.held_bytes), (1, 0));
}

/// Reversed by the guidelines: once its deallocation has run, a block serves any stream.
#[test]
fn stream_aware_recycle() {
    let (runtime, device) = device(256);
    let (a, b) = (device.default_stream(), device.new_stream().unwrap());
    let block = device.allocate(20 * MIB, &a).unwrap();
    let address = block.address();
    let work = a.submit().unwrap();
    drop(block);
    // Not before.
    let other = device.allocate(20 * MIB, &b).unwrap();
    assert_ne!(other.address(), address);
    a.complete(work).unwrap();
    assert_eq!(device.allocate(20 * MIB, &b).unwrap().address(), address);
    assert_eq!(runtime.counters(DEVICE).segments_allocated, 2);
}

#[test]
fn multiple_streams_independent() {
    let (_, device) = device(512);
    let streams: Vec<_> = (0..3).map(|_| device.new_stream().unwrap()).collect();
    let work: Vec<_> = streams.iter().map(|stream| stream.submit().unwrap()).collect();
    for stream in &streams {
        drop(device.allocate(20 * MIB, stream).unwrap());
    }
    assert_eq!(streams.iter().map(|s| s.pending().0).collect::<Vec<_>>(), [1, 1, 1]);
    streams[1].complete(work[1]).unwrap();
    assert_eq!(streams.iter().map(|s| s.pending().0).collect::<Vec<_>>(), [1, 0, 1]);
}
