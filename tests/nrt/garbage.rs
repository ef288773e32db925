//! A library that returns nonsense: each kind is an error, nothing is leaked, nothing freed twice.

use neuronx_mem::runtime::{DeviceRuntime, Status};
use neuronx_mem::{AllocError, Allocator};
use neuronx_mem_nrt::{Garbage, NrtError, NrtStatus, Symbol};

use super::standin::Standin;
use super::{DEVICE, MIB, check_returned};

/// The kind of the error that the second allocation under this nonsense has.
fn second(kind: &str) -> (Standin, NrtError) {
    let standin = Standin::new(&format!("garbage={kind}"));
    let runtime = standin.open();
    let first = runtime.allocate(DEVICE, MIB);
    let second = runtime.allocate(DEVICE, 4 * MIB).unwrap_err();
    if let Ok(first) = first {
        runtime.free(DEVICE, first.handle).unwrap();
    }
    // The allocator on top fails, too, and keeps its counts.
    let allocator = Allocator::builder().runtime(runtime).build().unwrap();
    let device = allocator.device(DEVICE).unwrap();
    let _ = allocator.allocate(MIB, &device.default_stream());
    let error = allocator.allocate(100 * MIB, &device.default_stream());
    let error = error.expect_err("nonsense again");
    assert!(matches!(&error, AllocError::Runtime(error) if error.status != Status::RESOURCE), "{error}");
    device.inspect(|pool| pool.validate()).unwrap();
    assert_eq!(device.memory_stats().counters().ooms, 0);
    drop((error, allocator));
    (standin, second)
}

fn garbage(error: NrtError) -> Garbage {
    match error {
        NrtError::Garbage { garbage, symbol: Symbol::TensorAllocate, bytes: 4_194_304, .. } => garbage,
        other => panic!("{other}"),
    }
}

#[test]
fn each_kind_of_nonsense_is_named() {
    let kinds = ["null", "duplicate", "null-va", "misaligned", "short", "overlap"];
    let lines: Vec<String> = kinds
        .into_iter()
        .map(|kind| {
            let (standin, error) = second(kind);
            check_returned(&standin);
            garbage(error.clone());
            // Addresses are the simulator's and the same everywhere.
            format!("{kind}: {error}")
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_dangling_pointer_has_no_address() {
    let (standin, error) = second("dangling");
    assert_eq!(garbage(error), Garbage::NullAddress);
    // It is given back like any tensor without an address; the library says that it is none.
    let counters = standin.counters();
    assert_eq!((counters.live_tensors, counters.held_bytes), (0, 0));
    assert!(counters.invalid_frees > 0);
}

#[test]
fn an_unknown_status_is_a_failed_call() {
    let (standin, error) = second("status");
    assert!(matches!(error, NrtError::Call { status: NrtStatus::Unknown(77), .. }));
    check_returned(&standin);
}

#[test]
fn slices_are_checked_too() {
    for kind in ["duplicate", "overlap"] {
        let standin = Standin::new(&format!("garbage={kind}"));
        let runtime = standin.open();
        let segment = runtime.allocate(DEVICE, MIB).unwrap();
        let error = runtime.tensor(DEVICE, segment.address, 64).unwrap_err();
        let expected = match kind {
            "duplicate" => Garbage::TensorInUse,
            "overlap" => Garbage::Moved { address: segment.address + 64 },
            other => panic!("{other}: {error}"),
        };
        let symbol = Symbol::TensorAllocateSlice;
        assert_eq!(error, NrtError::Garbage { symbol, device: DEVICE, bytes: 64, garbage: expected });
        assert_eq!(runtime.free_segment(DEVICE, segment.handle), Ok(()));
        check_returned(&standin);
    }
}
