//! Tensors of blocks: made when asked for, kept, replaced and freed; in any order.

use neuronx_mem::Allocator;
use neuronx_mem::runtime::{DeviceRuntime, Status};
use neuronx_mem_nrt::{NrtError, NrtStatus, Symbol, Tensor};

use super::standin::Standin;
use super::{DEVICE, MIB, check_returned};

#[test]
fn a_hot_allocation_makes_no_runtime_call() {
    let standin = Standin::new("");
    let runtime = std::sync::Arc::new(standin.open());
    let allocator = Allocator::builder().shared_runtime(runtime.clone()).build().unwrap();
    let stream = allocator.device(DEVICE).unwrap().default_stream();
    drop(allocator.allocate(MIB, &stream).unwrap());
    let before = runtime.calls();
    for i in 0..1000 {
        let block = allocator.allocate(MIB + i % 7 * 4096, &stream).unwrap();
        let other = allocator.allocate(2 * MIB, &stream).unwrap();
        drop((block, other));
    }
    assert_eq!(runtime.calls(), before);
    // The tensor costs one slice and one question the first time, and nothing at the same place.
    for _ in 0..10 {
        let block = allocator.allocate(3 * MIB, &stream).unwrap();
        let tensor = runtime.tensor(DEVICE, block.address(), block.requested_bytes()).unwrap();
        assert_eq!((tensor.address(), tensor.bytes(), tensor.device()), (block.address(), 3 * MIB, DEVICE));
    }
    let calls = runtime.calls();
    assert_eq!((calls.slices - before.slices, calls.total() - before.total()), (1, 2));
    drop((stream, allocator));
    check_returned(&standin);
}

#[test]
fn what_a_new_block_covers_is_let_go_but_not_under_its_users() {
    let standin = Standin::new("");
    let runtime = standin.open();
    let segment = runtime.allocate(DEVICE, 64 * MIB).unwrap();
    let tensor = |offset: u64, bytes| runtime.tensor(DEVICE, segment.address + offset, bytes).unwrap();
    let small: Vec<Tensor> = (0..4).map(|i| tensor(i * MIB, MIB)).collect();
    assert_eq!((standin.counters().slices, standin.counters().live_tensors), (4, 5));
    // Covers the middle two and half of the last one, which are still held here.
    let large = tensor(MIB, 2 * MIB + MIB / 2);
    assert_eq!(standin.counters().live_tensors, 6);
    assert_eq!(tensor(0, MIB).as_ptr(), small[0].as_ptr());
    drop(small);
    assert_eq!(standin.counters().live_tensors, 3);
    // The same place in another size is another block.
    drop(large);
    drop(tensor(MIB, MIB));
    assert_eq!((standin.counters().slices, standin.counters().live_tensors), (6, 3));
    runtime.free(DEVICE, segment.handle).unwrap();
    check_returned(&standin);
}

#[test]
fn slices_and_segments_are_freed_in_any_order() {
    for is_segment_first in [true, false] {
        let standin = Standin::new("");
        let runtime = standin.open();
        let segment = runtime.allocate(DEVICE, 64 * MIB).unwrap();
        let tensor = runtime.tensor(DEVICE, segment.address + 128, 4096).unwrap();
        if is_segment_first {
            runtime.free(DEVICE, segment.handle).unwrap();
            // The slice holds the memory, as in libnrt.
            assert_eq!((standin.counters().live_storages, standin.counters().held_bytes), (1, 64 * MIB));
            drop(tensor);
        } else {
            drop(tensor);
            runtime.free(DEVICE, segment.handle).unwrap();
        }
        check_returned(&standin);
    }
}

#[test]
fn named_slices_are_made_when_asked_for_or_at_once() {
    for is_eager in [false, true] {
        let standin = Standin::new("");
        let runtime = standin.builder().eager_slices(is_eager).open().unwrap();
        let segment = runtime.allocate_segment(DEVICE, MIB).unwrap().handle;
        let slice = runtime.slice(DEVICE, segment, 4096, 8192).unwrap();
        assert_eq!(standin.counters().slices, u64::from(is_eager));
        let tensor = runtime.slice_tensor(DEVICE, slice).unwrap();
        assert_eq!(runtime.slice_tensor(DEVICE, slice).unwrap().as_ptr(), tensor.as_ptr());
        assert_eq!((standin.counters().slices, tensor.bytes()), (1, 8192));
        drop(tensor);
        let unused = runtime.slice(DEVICE, segment, 0, 64).unwrap();
        runtime.free_segment(DEVICE, segment).unwrap();
        if !is_eager {
            assert_eq!(
                runtime.slice_tensor(DEVICE, unused).unwrap_err(),
                NrtError::UnknownSegment { segment }
            );
        }
        runtime.free_slice(DEVICE, slice).unwrap();
        runtime.free_slice(DEVICE, unused).unwrap();
        assert_eq!(runtime.free_slice(DEVICE, slice).unwrap_err().status, Status::INVALID_HANDLE);
        check_returned(&standin);
    }
}

#[test]
fn bounds_are_checked_before_a_call() {
    let standin = Standin::new("");
    let runtime = standin.open();
    let segment = runtime.allocate(DEVICE, MIB).unwrap();
    let at = segment.address;
    for (address, bytes) in [(at, MIB + 1), (at - 64, 64), (at + MIB, 64), (at, 0), (at, u64::MAX), (0, 64)] {
        let refused = runtime.tensor(DEVICE, address, bytes).map(|_| ());
        assert_eq!(refused, Err(NrtError::OutOfBounds { device: DEVICE, address, bytes }));
    }
    for (offset, bytes) in [(0, MIB + 1), (MIB, 1), (0, 0), (u64::MAX, 2), (1, u64::MAX)] {
        assert_eq!(runtime.slice(DEVICE, segment.handle, offset, bytes).unwrap_err().status, Status::INVALID);
    }
    assert_eq!(standin.counters().slices, 0);
}

#[test]
fn a_slice_that_fails_leaves_nothing_behind() {
    let standin = Standin::new("faults=seed=1 fail=slice:once(1):4");
    let runtime = standin.builder().eager_slices(true).open().unwrap();
    let segment = runtime.allocate(DEVICE, MIB).unwrap();
    let error = runtime.make_slice(DEVICE, segment.handle, 0, 64).unwrap_err();
    let (symbol, status) = (Symbol::TensorAllocateSlice, NrtStatus::Resource);
    assert_eq!(error, NrtError::Call { symbol, device: DEVICE, bytes: 64, status });
    assert!(runtime.make_slice(DEVICE, segment.handle, 0, 64).is_ok());
    drop(runtime);
    check_returned(&standin);
}

#[test]
fn threads_that_ask_for_one_tensor_get_one() {
    let standin = Standin::new("slice_latency_us=200");
    let runtime = standin.open();
    let segment = runtime.allocate(DEVICE, MIB).unwrap();
    let pointers: Vec<usize> = std::thread::scope(|scope| {
        let ask = || runtime.tensor(DEVICE, segment.address, 4096).unwrap().as_ptr().addr();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(pointers.iter().all(|pointer| *pointer == pointers[0]));
    // Those that lost the race were freed.
    assert_eq!(standin.counters().live_tensors, 2);
    drop(runtime);
    check_returned(&standin);
}
