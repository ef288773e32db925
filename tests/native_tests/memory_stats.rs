//! tests/memory/test_memory_stats.py: the functions of the memory module as a user calls them.

use super::{MIB, device, stat};

#[test]
fn test_memory_stats_returns_expected_keys() {
    let (_, device) = device(256);
    let map = device.memory_stats().to_map();
    for key in [
        "allocated_bytes.all.current",
        "allocated_bytes.all.peak",
        "reserved_bytes.all.current",
        "active_bytes.all.freed",
        "num_alloc_retries",
        "num_ooms",
        "num_tensor_frees",
        "allocation_requests",
    ] {
        assert!(map.contains_key(key), "{key}");
    }
}

#[test]
fn test_memory_allocated_reserved_and_max() {
    let (_, device) = device(256);
    let _block = device.allocate(4 * MIB, &device.default_stream()).unwrap();
    assert_eq!((device.memory_allocated(), device.max_memory_allocated()), (4 * MIB, 4 * MIB));
    assert_eq!((device.memory_reserved(), device.max_memory_reserved()), (64 * MIB, 64 * MIB));
}

/// Reversed by the profiling guide: reserved memory is real.
#[test]
fn test_memory_reserved_currently_zero() {
    let (_, device) = device(256);
    assert_eq!(device.memory_reserved(), 0);
    let block = device.allocate(1000, &device.default_stream()).unwrap();
    assert_eq!(device.memory_reserved(), 2 * MIB);
    drop(block);
    assert_eq!(device.memory_reserved(), 2 * MIB);
}

#[test]
fn test_peak_survives_delete() {
    let (_, device) = device(256);
    drop(device.allocate(4 * MIB, &device.default_stream()).unwrap());
    assert_eq!((device.memory_allocated(), device.max_memory_allocated()), (0, 4 * MIB));
}

#[test]
fn test_reset_peak_memory_stats() {
    let (_, device) = device(256);
    let stream = device.default_stream();
    let _kept = device.allocate(4 * MIB, &stream).unwrap();
    drop(device.allocate(20 * MIB, &stream).unwrap());
    device.reset_peak_memory_stats();
    for family in ["allocated_bytes", "reserved_bytes", "active_bytes"] {
        let [current, peak] = ["current", "peak"].map(|m| stat(&device, &format!("{family}.all.{m}")));
        assert_eq!(peak, current, "{family}");
    }
}

#[test]
fn test_memory_summary_contents() {
    let (_, device) = device(256);
    let summary = device.memory_summary();
    assert!(summary.contains("Neuron Memory Summary") && summary.contains("Device 0"), "{summary}");
}

#[test]
fn test_allocation_increases_requests_and_active() {
    let (_, device) = device(256);
    let before = [stat(&device, "allocation_requests"), stat(&device, "active_bytes.all.current")];
    let _block = device.allocate(12_345, &device.default_stream()).unwrap();
    let after = [stat(&device, "allocation_requests"), stat(&device, "active_bytes.all.current")];
    assert_eq!([after[0] - before[0], after[1] - before[1]], [1, 12_345]);
}

#[test]
fn test_delete_increases_tensor_frees() {
    let (_, device) = device(256);
    let block = device.allocate(1000, &device.default_stream()).unwrap();
    assert_eq!(stat(&device, "num_tensor_frees"), 0);
    drop(block);
    assert_eq!(stat(&device, "num_tensor_frees"), 1);
}

#[test]
fn test_reset_accumulated_memory_stats() {
    let (_, device) = device(256);
    drop(device.allocate(1000, &device.default_stream()).unwrap());
    device.reset_accumulated_memory_stats();
    for key in ["num_alloc_retries", "num_ooms", "num_tensor_frees", "allocation_requests"] {
        assert_eq!(stat(&device, key), 0, "{key}");
    }
}

#[test]
fn test_multiple_allocations_accumulate() {
    let (_, device) = device(256);
    let stream = device.default_stream();
    let blocks: Vec<_> = (1..=5).map(|n| device.allocate(n * 1000, &stream).unwrap()).collect();
    assert_eq!(stat(&device, "active_bytes.all.current"), 15_000);
    drop(blocks);
    let values = ["current", "allocated", "freed"].map(|m| stat(&device, &format!("active_bytes.all.{m}")));
    assert_eq!(values, [0, 15_000, 15_000]);
}
