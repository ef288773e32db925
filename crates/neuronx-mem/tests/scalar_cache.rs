//! The scalar cache (`TORCH_NEURONX_ENABLE_SCALAR_CACHE` of the environment variables reference):
//! one block a constant, counted, bounded, and given back when memory runs out.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem::sim::SimulatedRuntime;
use neuronx_mem::{AllocError, Allocator, Device, DeviceId, Handle, ScalarKey, ScalarStats};

const MIB: u64 = 1 << 20;

fn device_with(memory_bytes: u64, is_enabled: bool) -> Device {
    let runtime = SimulatedRuntime::builder().memory_bytes(memory_bytes).build();
    let allocator = Allocator::builder().runtime(runtime).scalar_cache(is_enabled).build().unwrap();
    allocator.device(DeviceId(0)).unwrap().clone()
}

fn float(value: f32) -> ScalarKey {
    ScalarKey { dtype: 6, bits: u128::from(value.to_bits()), bytes: 4 }
}

/// The constant's block, and whether it had to be written.
fn get(device: &Device, key: ScalarKey) -> (Handle, bool) {
    let mut is_written = false;
    let write = |_: &Handle| {
        is_written = true;
        Ok(())
    };
    let handle = device.cached_scalar(key, &device.default_stream(), write).unwrap();
    (handle, is_written)
}

#[test]
fn a_constant_is_made_once_and_counts_as_allocated() {
    let device = device_with(1 << 30, true);
    let (one, is_written) = get(&device, float(1.0));
    assert!(is_written);
    assert_eq!(get(&device, float(1.0)), (one, false));
    let (zero, negative) = (get(&device, float(0.0)).0, get(&device, float(-0.0)).0);
    assert!(zero.address != negative.address);
    let int_of_the_same_bits = ScalarKey { dtype: 3, ..float(1.0) };
    assert!(get(&device, int_of_the_same_bits).1);
    assert_eq!(device.memory_allocated(), 4 * 256);
    let stats = ScalarStats { hits: 1, misses: 4, evictions: 0, entries: 4 };
    assert_eq!(device.scalar_cache_stats(), stats);
}

#[test]
fn empty_cache_gives_constants_back() {
    let device = device_with(1 << 30, true);
    get(&device, float(1.0));
    assert_eq!(device.empty_cache().unwrap().bytes, 2 * MIB);
    assert_eq!((device.memory_reserved(), device.scalar_cache_stats().entries), (0, 0));
    assert!(get(&device, float(1.0)).1);
}

#[test]
fn recovery_gives_constants_back() {
    let device = device_with(64 * MIB, true);
    get(&device, float(1.0));
    // 2 MiB are held by the constant alone; the request needs all of the device.
    let block = device.allocate(64 * MIB, &device.default_stream()).unwrap();
    assert_eq!((block.block_bytes(), device.scalar_cache_stats().entries), (64 * MIB, 0));
    assert_eq!(device.memory_stats().counters().alloc_retries, 1);
}

#[test]
fn the_least_recently_used_constant_goes_first() {
    let device = device_with(1 << 30, true);
    let key = |n: u32| ScalarKey { dtype: 3, bits: u128::from(n), bytes: 4 };
    for n in 0..4096 {
        get(&device, key(n));
    }
    get(&device, key(0)); // used again: key 1 is the oldest now
    get(&device, key(5000));
    assert_eq!((get(&device, key(0)).1, get(&device, key(1)).1), (false, true));
    let stats = device.scalar_cache_stats();
    assert_eq!((stats.entries, stats.evictions), (4096, 2));
    assert_eq!(device.memory_allocated(), 4096 * 256);
}

#[test]
fn a_constant_outlives_the_work_of_every_stream_that_used_it() {
    let device = device_with(1 << 30, true);
    let other = device.new_stream().unwrap();
    get(&device, float(1.0));
    device.cached_scalar(float(1.0), &other, |_| Ok(())).unwrap();
    let work = other.submit().unwrap();
    // What empty_cache does first: the free waits for the other stream.
    assert_eq!(device.memory_allocated(), 256);
    other.complete(work).unwrap();
    device.empty_cache().unwrap();
    assert_eq!(device.memory_allocated(), 0);
}

#[test]
fn a_failed_write_keeps_nothing() {
    let device = device_with(1 << 30, true);
    let result = device.cached_scalar(float(1.0), &device.default_stream(), |_| Err(AllocError::NoWorker));
    assert_eq!(result, Err(AllocError::NoWorker));
    assert_eq!((device.memory_allocated(), device.scalar_cache_stats().entries), (0, 0));
}

#[test]
fn switched_off_every_request_makes_a_block_of_the_callers() {
    let device = device_with(1 << 30, false);
    let (a, b) = (get(&device, float(1.0)).0, get(&device, float(1.0)).0);
    assert_ne!(a.address, b.address);
    device.free_handle(a).unwrap();
    device.free_handle(b).unwrap();
    assert_eq!((device.memory_allocated(), device.scalar_cache_stats()), (0, ScalarStats::default()));
}
