//! What the tests of native TorchNeuron pin down about device memory and still applies, at the facade.
//! Each module bears the name of a source file, each test that of its test there.
//!
//! Left out is what the segment allocator replaced (a free list by exact size with weak pointers) and
//! what lives above the facade (Python objects, dispatch, storage resize, the host allocator). Where the
//! guidelines reverse a behaviour, the test keeps its name and asserts the reverse.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod allocator_tests;
mod memory_stats;
mod neuron_caching_allocator_test;
mod neuron_metrics_test;
mod neuron_resource_manager_test;
mod record_stream;
mod shelves_cleanup_test;

use std::sync::Arc;

use neuronx_mem::sim::{FaultPlan, SimulatedRuntime};
use neuronx_mem::{Allocator, Device, DeviceId};

const MIB: u64 = 1 << 20;
const DEVICE: DeviceId = DeviceId(0);

/// A device of so many MiB, and its allocator's device.
fn device(memory_mib: u64) -> (Arc<SimulatedRuntime>, Device) {
    device_with(memory_mib, &FaultPlan::new(0))
}

/// The same with faults.
fn device_with(memory_mib: u64, plan: &FaultPlan) -> (Arc<SimulatedRuntime>, Device) {
    let builder = SimulatedRuntime::builder().memory_bytes(memory_mib * MIB).faults(plan.clone());
    let runtime = Arc::new(builder.build());
    let allocator = Allocator::builder().shared_runtime(runtime.clone()).build().unwrap();
    let device = allocator.device(DEVICE).unwrap().clone();
    (runtime, device)
}

/// A value of the flat dict.
fn stat(device: &Device, key: &str) -> u64 {
    u64::try_from(device.memory_stats().to_map()[key]).unwrap()
}
