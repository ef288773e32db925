//! The simulated runtime against its documentation: capacities, first fit, slices, time.

use neuronx_mem_runtime::{DeviceId, DeviceRuntime, MemoryInfo, SegmentHandle, SliceHandle, Status};
use neuronx_mem_sim::{CostModel, Lnc, Preset, SimulatedRuntime};
use proptest::prelude::*;

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;
const DEVICE: DeviceId = DeviceId(0);

fn with_memory(bytes: u64) -> SimulatedRuntime {
    SimulatedRuntime::builder().memory_bytes(bytes).build()
}

#[test]
fn profiling_guide_note_lnc_1_capacities() {
    let table: Vec<(&str, u64, u64, u64, u64)> = Preset::ALL
        .iter()
        .map(|p| {
            let gib = |bytes: u64| bytes / GIB;
            let (one, two) = (Lnc::One, Lnc::Two);
            (
                p.name(),
                gib(p.total_bytes(one)),
                gib(p.core_capacity_bytes(one)),
                gib(p.total_bytes(two)),
                gib(p.core_capacity_bytes(two)),
            )
        })
        .collect();
    assert_eq!(
        table,
        [
            ("trn1", 16, 16, 32, 32),
            ("inf2", 16, 16, 32, 32),
            ("trn2", 24, 12, 24, 24),
            ("trn3", 36, 18, 36, 36)
        ]
    );
}

#[test]
fn at_lnc_1_the_neighbour_holds_its_half_of_the_stack() {
    let runtime = SimulatedRuntime::builder().preset(Preset::Trn2).lnc(Lnc::One).build();
    assert_eq!(runtime.memory_info(DEVICE), Ok(MemoryInfo { used_bytes: 12 * GIB, limit_bytes: 24 * GIB }));
    assert_eq!(runtime.largest_gap_bytes(DEVICE), 12 * GIB);
    let error = runtime.allocate_segment(DEVICE, 12 * GIB + 1).unwrap_err();
    assert_eq!(error.status, Status::RESOURCE);
    assert!(runtime.allocate_segment(DEVICE, 12 * GIB).is_ok());
}

#[test]
fn segments_come_first_fit_and_gaps_merge() {
    let runtime = with_memory(10 * MIB);
    let base = runtime.address_range(DEVICE).unwrap().start;
    let place = |mib: u64| runtime.allocate_segment(DEVICE, mib * MIB).unwrap();
    let (a, b, c) = (place(2), place(4), place(2));
    assert_eq!([a, b, c].map(|s| (s.address - base) / MIB), [0, 2, 6]);
    runtime.free_segment(DEVICE, a.handle).unwrap();
    runtime.free_segment(DEVICE, c.handle).unwrap();
    assert_eq!(runtime.largest_gap_bytes(DEVICE), 4 * MIB); // c and the tail
    assert_eq!((place(1).address - base) / MIB, 0); // the lowest gap, not the best one
    runtime.free_segment(DEVICE, b.handle).unwrap();
    assert_eq!(runtime.largest_gap_bytes(DEVICE), 9 * MIB);
}

#[test]
fn odd_sizes_keep_addresses_aligned_and_the_last_bytes_usable() {
    let runtime = with_memory(200);
    let a = runtime.allocate_segment(DEVICE, 65).unwrap();
    let b = runtime.allocate_segment(DEVICE, 72).unwrap();
    assert_eq!((a.address % 64, b.address - a.address), (0, 128));
    assert_eq!(runtime.allocate_segment(DEVICE, 1).unwrap_err().status, Status::RESOURCE);
}

#[test]
fn a_freed_segment_lives_until_its_last_slice() {
    let runtime = with_memory(MIB);
    let segment = runtime.allocate_segment(DEVICE, MIB).unwrap();
    let slice = runtime.slice(DEVICE, segment.handle, MIB / 2, MIB / 2).unwrap();
    runtime.free_segment(DEVICE, segment.handle).unwrap();
    assert_eq!(runtime.counters(DEVICE).held_bytes, MIB);
    assert_eq!(runtime.free_segment(DEVICE, segment.handle).unwrap_err().status, Status::INVALID_HANDLE);
    runtime.free_slice(DEVICE, slice).unwrap();
    assert_eq!(runtime.counters(DEVICE).held_bytes, 0);
    assert!(runtime.allocate_segment(DEVICE, MIB).is_ok());
}

#[test]
fn bad_calls_are_typed() {
    let runtime = with_memory(MIB);
    let segment = runtime.allocate_segment(DEVICE, MIB).unwrap().handle;
    let status = |result: Result<SliceHandle, neuronx_mem_runtime::RuntimeError>| result.unwrap_err().status;
    assert_eq!(status(runtime.slice(DEVICE, segment, 1, MIB)), Status::INVALID);
    assert_eq!(status(runtime.slice(DEVICE, segment, u64::MAX, 2)), Status::INVALID);
    assert_eq!(status(runtime.slice(DEVICE, segment, 0, 0)), Status::INVALID);
    assert_eq!(status(runtime.slice(DEVICE, SegmentHandle(99), 0, 1)), Status::INVALID_HANDLE);
    assert_eq!(runtime.free_slice(DEVICE, SliceHandle(99)).unwrap_err().status, Status::INVALID_HANDLE);
    assert_eq!(runtime.allocate_segment(DEVICE, 0).unwrap_err().status, Status::INVALID);
    assert_eq!(runtime.allocate_segment(DEVICE, u64::MAX).unwrap_err().status, Status::RESOURCE);
    assert_eq!(runtime.memory_info(DeviceId(7)).unwrap_err().status, Status::INVALID);
    assert_eq!(runtime.address_range(DeviceId(7)), None);
}

#[test]
fn calls_move_the_virtual_clock() {
    let cost = CostModel { allocate_ns: 1000, allocate_ns_per_mib: 10, free_ns: 300, slice_ns: 7 };
    let runtime = SimulatedRuntime::builder().cost(cost).devices(2).build();
    let segment = runtime.allocate_segment(DeviceId(1), 64 * MIB).unwrap().handle;
    let slice = runtime.slice(DeviceId(1), segment, 0, 64).unwrap();
    runtime.free_slice(DeviceId(1), slice).unwrap();
    runtime.free_segment(DeviceId(1), segment).unwrap();
    assert_eq!(runtime.clock().now_ns(), 1000 + 640 + 7 + 7 + 300);
}

proptest! {
    /// Random takes and returns: never two holders of one byte, and all of it back in the end.
    #[test]
    fn no_byte_has_two_holders(steps in prop::collection::vec((any::<bool>(), 1u64..3000, any::<prop::sample::Index>()), 1..200)) {
        let runtime = with_memory(20_000);
        let mut held: Vec<(SegmentHandle, u64, u64)> = Vec::new();
        for (is_take, bytes, pick) in steps {
            if is_take || held.is_empty() {
                if let Ok(segment) = runtime.allocate_segment(DEVICE, bytes) {
                    let (start, end) = (segment.address, segment.address + bytes);
                    prop_assert!(held.iter().all(|(_, s, e)| end <= *s || *e <= start));
                    prop_assert!(runtime.address_range(DEVICE).unwrap().end >= end);
                    held.push((segment.handle, start, end));
                }
            } else {
                let (handle, ..) = held.swap_remove(pick.index(held.len()));
                runtime.free_segment(DEVICE, handle).unwrap();
            }
        }
        for (handle, ..) in held {
            runtime.free_segment(DEVICE, handle).unwrap();
        }
        prop_assert_eq!(runtime.largest_gap_bytes(DEVICE), 20_000);
        prop_assert_eq!(runtime.counters(DEVICE).held_bytes, 0);
    }
}
