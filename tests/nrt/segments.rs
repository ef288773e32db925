//! Segments: their calls, their statuses, 4 GiB, the order of frees.

use std::sync::{Arc, Mutex};

use neuronx_mem::runtime::{DeviceRuntime, Operation, RuntimeError, SegmentHandle, Status};
use neuronx_mem::{AllocError, Allocator, DeviceId};
use neuronx_mem_nrt::{DeviceExhausted, NrtError, NrtStatus, NrtVersion, Symbol};

use super::standin::Standin;
use super::{DEVICE, GIB, MIB, check_returned};

#[test]
fn a_segment_is_one_tensor_and_comes_back() {
    let standin = Standin::new("devices=2");
    let runtime = standin.open();
    let (a, b) = (runtime.allocate(DEVICE, 64 * MIB).unwrap(), runtime.allocate(DeviceId(1), MIB).unwrap());
    assert!(a.address.is_multiple_of(64) && a.address > 0 && b.address != a.address);
    let counters = standin.counters();
    assert_eq!((counters.allocations, counters.live_tensors, counters.held_bytes), (2, 2, 65 * MIB));
    runtime.free(DEVICE, a.handle).unwrap();
    assert_eq!(runtime.free(DEVICE, a.handle), Err(NrtError::UnknownSegment { segment: a.handle }));
    // A name counts on its own device alone.
    assert_eq!(runtime.free(DEVICE, SegmentHandle(9)).unwrap_err().status(), Status::INVALID_HANDLE);
    drop(runtime);
    check_returned(&standin);
    assert_eq!((standin.counters().frees, standin.counters().closes), (2, 0));
}

#[test]
fn unknown_devices_and_no_bytes_are_refused_without_a_call() {
    let standin = Standin::new("");
    let runtime = standin.open();
    let device = DeviceId(1);
    assert_eq!(runtime.allocate(device, MIB), Err(NrtError::UnknownDevice { device, n_devices: 1 }));
    assert_eq!(runtime.allocate(DEVICE, 0).unwrap_err().status(), Status::INVALID);
    assert_eq!(runtime.memory(device).unwrap_err().status(), Status::INVALID);
    assert_eq!(standin.counters().allocations, 0);
}

#[test]
fn only_resource_is_out_of_memory() {
    let standin = Standin::new("memory=1048576");
    let runtime = standin.open();
    let error = runtime.allocate(DEVICE, 2 * MIB).unwrap_err();
    let (symbol, status) = (Symbol::TensorAllocate, NrtStatus::Resource);
    assert_eq!(error, NrtError::Call { symbol, device: DEVICE, bytes: 2 * MIB, status });
    assert!(error.is_out_of_memory());
    insta::assert_snapshot!(error, @"nrt_tensor_allocate of 2097152 bytes on device 0 failed: NRT_RESOURCE (4): no device memory left");
    for (number, is_oom) in
        [(1, false), (2, false), (4, true), (6, false), (11, false), (13, false), (101, false)]
    {
        let standin = Standin::new(&format!("faults=seed=1 fail=allocate:from(1):{number}"));
        let error = standin.open().allocate_segment(DEVICE, MIB).unwrap_err();
        let status = Status(number);
        assert_eq!(error, RuntimeError::new(Operation::AllocateSegment, DEVICE, status, MIB));
        assert_eq!(error.status.is_resource_exhausted(), is_oom);
    }
}

#[test]
fn four_gib_in_one_call_are_refused_where_they_overflow() {
    let standin = Standin::new("version=2.29.41.0");
    let runtime = standin.open();
    let error = runtime.allocate(DEVICE, 4 * GIB).unwrap_err();
    let version = NrtVersion::new(2, 29, 41, 0);
    assert_eq!(error, NrtError::OverflowingRuntime { bytes: 4 * GIB, version });
    assert_eq!((error.status(), standin.counters().allocations), (Status::INVALID, 0));
    insta::assert_snapshot!(error, @"4294967296 bytes in one allocation overflow in libnrt 2.29.41.0: update it, or stay below 4 GiB");
    assert!(runtime.allocate(DEVICE, 4 * GIB - 1).is_ok());
    let allocator = Allocator::builder().runtime(runtime).build().unwrap();
    let stream = allocator.device(DEVICE).unwrap().default_stream();
    // Not a reason to throw the cache away: no recovery is tried.
    let error = allocator.allocate(5 * GIB, &stream).unwrap_err();
    assert!(matches!(&error, AllocError::Runtime(error) if error.status == Status::INVALID));
    assert_eq!(stream.device().memory_stats().counters().alloc_retries, 0);
    drop(allocator);
    let newer = Standin::new("version=2.30.0.0");
    assert!(newer.open().allocate(DEVICE, 5 * GIB).is_ok());
    check_returned(&newer);
}

#[test]
fn a_program_is_told_when_memory_runs_out() {
    let standin = Standin::new("memory=67108864");
    let told: Arc<Mutex<Vec<DeviceExhausted>>> = Arc::default();
    let list = Arc::clone(&told);
    let builder = standin.builder().on_out_of_memory(move |report| list.lock().unwrap().push(*report));
    // SAFETY: the stand-in's function takes nothing.
    let runtime = unsafe { builder.call_runtime_report() }.open().unwrap();
    let allocator = Allocator::builder().runtime(runtime).build().unwrap();
    let stream = allocator.device(DEVICE).unwrap().default_stream();
    let held = allocator.allocate(40 * MIB, &stream).unwrap();
    assert!(allocator.allocate(30 * MIB, &stream).unwrap_err().is_out_of_memory());
    let reports: Vec<(u64, u64, u64)> = told
        .lock()
        .unwrap()
        .iter()
        .map(|report| (report.bytes / MIB, report.memory.unwrap().used_bytes / MIB, report.n_so_far))
        .collect();
    // The first try, and the retry after recovery.
    assert_eq!((reports, standin.counters().reports), (vec![(30, 40, 1), (30, 40, 2)], 2));
    drop((held, stream, allocator));
    check_returned(&standin);
}
