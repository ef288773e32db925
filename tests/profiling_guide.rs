//! Every number of the memory profiling guide, through the facade. Each test is named after the
//! step of the guide that it comes from.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem::sim::{Lnc, Preset, SimulatedRuntime};
use neuronx_mem::{Allocator, Block, Device, DeviceId};

const MIB: u64 = 1 << 20;

fn device() -> Device {
    let allocator = Allocator::builder().runtime(SimulatedRuntime::default()).build().unwrap();
    allocator.device(DeviceId(0)).unwrap().clone()
}

fn allocate(device: &Device, bytes: u64) -> Block {
    device.allocate(bytes, &device.default_stream()).unwrap()
}

/// Part 1 of the example: 1024 x 1024 float32 and 2048 x 2048 bfloat16.
fn part_1(device: &Device) -> [Block; 2] {
    [allocate(device, 1024 * 1024 * 4), allocate(device, 2048 * 2048 * 2)]
}

#[test]
fn step_2_part_1_allocated_and_reserved() {
    let device = device();
    let _tensors = part_1(&device);
    device.synchronize();
    assert_eq!(device.memory_allocated(), 12_582_912);
    assert_eq!(device.memory_reserved(), 67_108_864);
}

#[test]
fn step_2_part_2_the_peak_after_a_third_tensor() {
    let device = device();
    let _tensors = part_1(&device);
    device.synchronize();
    device.reset_peak_memory_stats();
    let _c = allocate(&device, 4096 * 4096 * 4);
    device.synchronize();
    assert_eq!(device.max_memory_allocated(), 79_691_776);
    assert_eq!(device.max_memory_reserved(), 134_217_728);
}

#[test]
fn step_2_the_table_after_part_1() {
    let device = device();
    let _tensors = part_1(&device);
    insta::assert_snapshot!(device.memory_summary(), @r"
    ===========================================================================
      Neuron Memory Summary, Device 0
    ===========================================================================
      Allocations: 2  |  Frees: 0
      OOMs: 0  |  Alloc Retries: 0
    ===========================================================================
      Metric              | Current    | Peak       | Allocated  | Freed
    ---------------------------------------------------------------------------
      Allocated Memory   |     12 MiB |     12 MiB |     12 MiB |        0 B
      Reserved Memory    |     64 MiB |     64 MiB |     64 MiB |        0 B
      Active Memory      |     12 MiB |     12 MiB |     12 MiB |        0 B
    ===========================================================================
    ");
}

#[test]
fn step_1_reset_accumulated_memory_stats() {
    let device = device();
    drop(part_1(&device));
    device.reset_accumulated_memory_stats();
    let map = device.memory_stats().to_map();
    let zeroed = [
        "allocation_requests",
        "num_tensor_frees",
        "allocated_bytes.all.allocated",
        "allocated_bytes.all.freed",
    ];
    assert!(zeroed.iter().all(|key| map[*key] == 0));
    assert_eq!(map["allocated_bytes.all.peak"], 12_582_912);
}

#[test]
fn step_1_memory_stats_has_the_same_numbers_as_a_flat_dict() {
    let device = device();
    let _tensors = part_1(&device);
    let map = device.memory_stats().to_map();
    assert_eq!(map["allocated_bytes.all.current"], 12_582_912);
    assert_eq!(map["reserved_bytes.all.current"], 67_108_864);
    assert_eq!(map["active_bytes.all.peak"], map["requested_bytes.all.peak"]);
    assert_eq!(map["inactive_split_bytes.large_pool.current"], 52 << 20);
    assert_eq!(map["num_device_alloc"], 1);
}

#[test]
fn step_1_empty_cache_returns_cached_but_free_segments() {
    let device = device();
    drop(part_1(&device));
    assert_eq!(device.memory_reserved(), 64 * MIB);
    assert_eq!(device.empty_cache().unwrap().bytes, 64 * MIB);
    assert_eq!(device.memory_reserved(), 0);
}

#[test]
fn step_3_the_analysis_of_part_1() {
    let device = device();
    let _tensors = part_1(&device);
    let analysis = device.segment_pool_analysis();
    assert_eq!((analysis.total_bytes, analysis.reserved_bytes), (24 << 30, 64 << 20));
    assert_eq!(
        (analysis.free_bytes, analysis.largest_free_bytes),
        ((24 << 30) - (12 << 20), (24 << 30) - (64 << 20))
    );
    assert_eq!((analysis.internal_fragmentation_bytes, analysis.external_fragmentation_bytes), (0, 0));
    assert_eq!((analysis.fragmentation_index, analysis.memory_density), (0.0, 1.0));
    let text = device.segment_pool_analysis_summary();
    for word in ["Total", "Reserved", "Free", "Largest", "Internal", "External", "Index", "Density"] {
        assert!(text.contains(word), "{word}");
    }
}

#[test]
fn step_1_note_at_lnc_1_the_total_is_twice_one_logical_core() {
    for (preset, total_gib, capacity_gib) in [(Preset::Trn2, 24, 12), (Preset::Trn3, 36, 18)] {
        let runtime = SimulatedRuntime::builder().preset(preset).lnc(Lnc::One).build();
        let allocator = Allocator::builder().runtime(runtime).build().unwrap();
        let device = allocator.device(DeviceId(0)).unwrap();
        assert_eq!(device.memory_info().unwrap().limit_bytes, total_gib << 30);
        let _whole_core = allocate(device, capacity_gib << 30);
        let error = device.allocate(MIB, &device.default_stream()).unwrap_err();
        assert!(error.is_out_of_memory());
    }
}
