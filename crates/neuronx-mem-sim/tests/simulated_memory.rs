//! What the host writes to simulated memory it reads back, through the trait and by address.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_runtime::{DeviceId, DeviceRuntime, Status};
use neuronx_mem_sim::SimulatedRuntime;

const DEVICE: DeviceId = DeviceId(0);

#[test]
fn filling_a_gigabyte_and_finding_the_byte_that_changed() {
    let runtime = SimulatedRuntime::default();
    let segment = runtime.allocate_segment(DEVICE, 1 << 30).unwrap();
    runtime.fill_memory(DEVICE, segment.handle, 64, (1 << 30) - 64, 0xFB).unwrap();
    let find = || runtime.find_other_byte(DEVICE, segment.handle, 64, (1 << 30) - 64, 0xFB).unwrap();
    assert_eq!(find(), None);
    assert!(runtime.write_address(DEVICE, segment.address + 70_000, &[1, 2]));
    assert_eq!(find(), Some((70_000, 1)));
    let mut read = [9; 4];
    runtime.read_memory(DEVICE, segment.handle, 69_999, &mut read).unwrap();
    assert_eq!(read, [0xFB, 1, 2, 0xFB]);
    assert_eq!(runtime.read_address(DEVICE, segment.address, 2), Some(vec![0, 0]));
}

#[test]
fn memory_that_is_not_held_is_refused() {
    let runtime = SimulatedRuntime::default();
    let segment = runtime.allocate_segment(DEVICE, 4096).unwrap();
    let status = |offset: u64, bytes: &[u8]| {
        runtime.write_memory(DEVICE, segment.handle, offset, bytes).unwrap_err().status
    };
    assert_eq!(status(4095, &[1, 2]), Status::INVALID);
    assert_eq!(status(u64::MAX, &[1, 2]), Status::INVALID);
    assert!(!runtime.write_address(DEVICE, segment.address + 4095, &[1, 2]));
    assert_eq!(runtime.read_address(DEVICE, segment.address - 1, 1), None);
    runtime.free_segment(DEVICE, segment.handle).unwrap();
    assert_eq!(status(0, &[1]), Status::INVALID_HANDLE);
    assert!(!runtime.write_address(DEVICE, segment.address, &[1]));
}

#[test]
fn a_new_segment_does_not_show_what_was_there_before() {
    let runtime = SimulatedRuntime::default();
    let first = runtime.allocate_segment(DEVICE, 4096).unwrap();
    runtime.fill_memory(DEVICE, first.handle, 0, 4096, 7).unwrap();
    runtime.free_segment(DEVICE, first.handle).unwrap();
    let second = runtime.allocate_segment(DEVICE, 4096).unwrap();
    assert_eq!(second.address, first.address);
    assert_eq!(runtime.find_other_byte(DEVICE, second.handle, 0, 4096, 0), Ok(None));
}

#[test]
fn touching_memory_counts_as_no_call() {
    let runtime = SimulatedRuntime::default();
    let before = runtime.counters(DEVICE);
    let segment = runtime.allocate_segment(DEVICE, 4096).unwrap();
    let held = runtime.counters(DEVICE);
    runtime.fill_memory(DEVICE, segment.handle, 0, 4096, 7).unwrap();
    assert_eq!(runtime.counters(DEVICE), held);
    assert_ne!(before, held);
}
