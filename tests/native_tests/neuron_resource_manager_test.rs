//! NeuronResourceManagerTest.cpp: who owns the pools, and in which order things may end.

use neuronx_mem::sim::SimulatedRuntime;
use neuronx_mem::{Allocator, DeviceId};

use super::{DEVICE, MIB, device};

#[test]
fn each_device_has_a_pool_of_its_own() {
    let runtime = SimulatedRuntime::builder().devices(2).build();
    let allocator = Allocator::builder().runtime(runtime).build().unwrap();
    let (a, b) = (allocator.device(DEVICE).unwrap(), allocator.device(DeviceId(1)).unwrap());
    drop(a.allocate(20 * MIB, &a.default_stream()).unwrap());
    assert_eq!((a.memory_reserved(), b.memory_reserved()), (20 * MIB, 0));
    let unknown = allocator.device(DeviceId(2)).unwrap_err();
    assert_eq!(unknown.to_string(), "device 2 is unknown: there are 2");
}

#[test]
fn a_block_outlives_its_allocator() {
    let (runtime, device) = device(256);
    let stream = device.default_stream();
    let block = device.allocate(20 * MIB, &stream).unwrap();
    drop((device, stream));
    assert_eq!((runtime.counters(DEVICE).held_bytes, block.block_bytes()), (20 * MIB, 20 * MIB));
    drop(block);
    assert_eq!(runtime.counters(DEVICE).held_bytes, 0);
}

#[test]
fn teardown_returns_everything_with_work_outstanding() {
    let (runtime, device) = device(256);
    let stream = device.default_stream();
    let block = device.allocate(20 * MIB, &stream).unwrap();
    stream.submit().unwrap();
    drop(block);
    assert!(!device.memory_stats().is_settled());
    drop((device, stream));
    assert_eq!(runtime.counters(DEVICE).held_bytes, 0);
}

#[test]
fn a_runtime_that_was_closed_first_is_no_panic() {
    let (runtime, device) = device(256);
    let block = device.allocate(20 * MIB, &device.default_stream()).unwrap();
    runtime.close();
    let error = device.allocate(30 * MIB, &device.default_stream()).unwrap_err();
    assert!(error.to_string().ends_with("NRT_CLOSED (14)"), "{error}");
    drop((block, device));
    assert_eq!(runtime.counters(DEVICE).held_bytes, 0);
}
