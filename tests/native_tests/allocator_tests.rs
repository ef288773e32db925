//! tests/allocator/test_allocator.py: emptying the cache, and memory that goes through the allocator.

use neuronx_mem::Allocator;
use neuronx_mem::sim::SimulatedRuntime;

use super::{MIB, device};

#[test]
fn test_empty_cache_callable() {
    let (runtime, device) = device(256);
    device.empty_cache().unwrap();
    drop(device.allocate(20 * MIB, &device.default_stream()).unwrap());
    device.empty_cache().unwrap();
    device.empty_cache().unwrap();
    assert_eq!((device.memory_reserved(), runtime.counters(super::DEVICE).held_bytes), (0, 0));
}

/// It synchronises first, and covers every device.
#[test]
fn test_empty_cache_on_all_devices() {
    let runtime = SimulatedRuntime::builder().devices(2).build();
    let allocator = Allocator::builder().runtime(runtime).build().unwrap();
    for device in allocator.devices() {
        let stream = device.default_stream();
        let block = device.allocate(20 * MIB, &stream).unwrap();
        stream.submit().unwrap();
        drop(block);
    }
    let released = allocator.empty_cache().unwrap();
    assert_eq!((released.segments, released.bytes), (2, 40 * MIB));
}

#[test]
fn test_empty_uses_allocator() {
    let (_, device) = device(256);
    let stream = device.default_stream();
    // A tensor of 3 x 5 float32, one of no elements, and a strided one of 1000 bytes.
    let blocks = [60, 0, 1000].map(|bytes| device.allocate(bytes, &stream).unwrap());
    assert_eq!(super::stat(&device, "allocation_requests"), 3);
    assert_eq!(blocks.each_ref().map(|block| block.block_bytes()), [256, 0, 1024]);
}
