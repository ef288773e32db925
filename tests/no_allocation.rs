//! The steady-state hot path takes no host memory: proved by a global allocator that counts.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::alloc::System;

use neuronx_mem::sim::SimulatedRuntime;
use neuronx_mem::snapshot::history::RecordOptions;
use neuronx_mem::{Allocator, Block, Device, DeviceId};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SIZES: [u64; 12] =
    [1, 300, 4096, 70_000, 900_000, 1 << 20, 3 << 20, 9 << 20, (16 << 20) - 1, 17 << 20, 40 << 20, 100 << 20];

/// One pass: fill all slots, replace them in another order, empty them again.
fn pass(device: &Device, slots: &mut [Option<Block>]) {
    let stream = device.default_stream();
    for (i, slot) in slots.iter_mut().enumerate() {
        *slot = Some(device.allocate(SIZES[i % SIZES.len()], &stream).unwrap());
    }
    for i in 0..slots.len() {
        let j = (i * 7 + 3) % slots.len();
        slots[j] = None;
        slots[j] = Some(device.allocate(SIZES[(i * 5) % SIZES.len()], &stream).unwrap());
    }
    slots.fill_with(|| None);
}

/// The only test of this file: another one would allocate on its own thread meanwhile.
#[test]
fn no_host_memory_once_warm() {
    let runtime = SimulatedRuntime::builder().memory_bytes(1 << 40).build();
    let allocator = Allocator::builder().runtime(runtime).build().unwrap();
    let device = allocator.device(DeviceId(0)).unwrap();
    let mut slots: Vec<Option<Block>> = (0..100).map(|_| None).collect();
    for is_recording in [false, true] {
        if is_recording {
            device.record_memory_history(&RecordOptions::builder().max_entries(1000).build());
        }
        (0..3).for_each(|_| pass(device, &mut slots));
        let region = Region::new(COUNTING);
        (0..3).for_each(|_| pass(device, &mut slots));
        let change = region.change();
        assert_eq!((change.allocations, change.reallocations), (0, 0), "recording: {is_recording}");
    }
    assert_eq!(device.memory_allocated(), 0);
}
