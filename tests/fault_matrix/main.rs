//! The allocator over a simulated device that fails: every outcome, counter and invariant, and that
//! the runtime gets everything back. No fault of a real device is reproduced here.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod matrix;
mod random_programs;
mod scenarios;

use std::sync::Arc;

use neuronx_mem::runtime::Status;
use neuronx_mem::sim::{CostModel, FaultPlan, SimulatedRuntime};
use neuronx_mem::{AllocError, Allocator, Block, Device, DeviceId};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const DEVICE: DeviceId = DeviceId(0);

fn shared_runtime(memory_bytes: u64, plan: &FaultPlan) -> Arc<SimulatedRuntime> {
    let cost = CostModel { allocate_ns: 1000, ..CostModel::default() };
    let builder = SimulatedRuntime::builder().memory_bytes(memory_bytes).cost(cost);
    Arc::new(builder.faults(plan.clone()).build())
}

fn allocator(runtime: &Arc<SimulatedRuntime>, is_recovery_enabled: bool) -> Allocator {
    let builder = Allocator::builder().shared_runtime(runtime.clone());
    builder.oom_recovery(is_recovery_enabled).build().unwrap()
}

fn first(allocator: &Allocator) -> Device {
    allocator.device(DEVICE).unwrap().clone()
}

/// "ok", "oom", or the name of the runtime's status.
fn outcome(result: &Result<Block, AllocError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(AllocError::OutOfMemory(_)) => "oom",
        Err(AllocError::Runtime(error)) if error.status == Status::FAIL_HOST_MEM_ALLOC => "HOST_MEM",
        Err(AllocError::Runtime(error)) => {
            error.status.name().map_or("unknown", |name| &name["NRT_".len()..])
        }
        Err(_) => "other",
    }
}

fn counter(device: &Device, key: &str) -> u64 {
    u64::try_from(device.memory_stats().to_map()[key]).unwrap()
}

#[track_caller]
fn check_invariants(device: &Device) {
    device.inspect(|pool| pool.validate()).unwrap();
    let usage = device.usage();
    assert_eq!(usage.reserved_bytes, usage.allocated_bytes + usage.padding_bytes + usage.cached_free_bytes);
    assert!(usage.reserved_bytes >= usage.allocated_bytes && usage.allocated_bytes >= usage.active_bytes);
    assert_eq!(
        (device.memory_reserved(), device.memory_allocated()),
        (usage.reserved_bytes, usage.allocated_bytes)
    );
}

/// All owners are gone: the runtime has everything but what it refused, and in one piece.
#[track_caller]
fn check_returned(runtime: &SimulatedRuntime, lost_bytes: u64, memory_bytes: u64) {
    runtime.settle();
    let counters = runtime.counters(DEVICE);
    assert_eq!(counters.held_bytes, lost_bytes);
    runtime.stop_faults();
    assert_eq!(runtime.free_bytes(DEVICE), memory_bytes - lost_bytes);
    if lost_bytes == 0 {
        assert_eq!(runtime.largest_gap_bytes(DEVICE), memory_bytes);
    }
    // What the process lost comes back when the runtime is closed.
    runtime.close();
    assert_eq!(runtime.largest_gap_bytes(DEVICE), memory_bytes);
}
