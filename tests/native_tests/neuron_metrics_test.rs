//! NeuronMetricsTest.cpp, its memory part: each value under increase, decrease and reset.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use neuronx_mem::sim::SimulatedRuntime;
use neuronx_mem::{Allocator, DeviceId};

use super::{MIB, device, stat};

#[test]
fn memory_stat_increase_updates_current() {
    let (_, device) = device(256);
    let _block = device.allocate(1000, &device.default_stream()).unwrap();
    let values = ["current", "allocated", "freed"].map(|m| stat(&device, &format!("active_bytes.all.{m}")));
    assert_eq!(values, [1000, 1000, 0]);
}

#[test]
fn memory_stat_decrease_updates_current() {
    let (_, device) = device(256);
    drop(device.allocate(1000, &device.default_stream()).unwrap());
    let values = ["current", "allocated", "freed"].map(|m| stat(&device, &format!("active_bytes.all.{m}")));
    assert_eq!(values, [0, 1000, 1000]);
}

#[test]
fn memory_stat_peak_tracking() {
    let (_, device) = device(256);
    let stream = device.default_stream();
    let a = device.allocate(1000, &stream).unwrap();
    drop(device.allocate(500, &stream).unwrap());
    drop(a);
    let _small = device.allocate(300, &stream).unwrap();
    assert_eq!(stat(&device, "active_bytes.all.peak"), 1500);
}

#[test]
fn memory_stat_reset_peak() {
    let (_, device) = device(256);
    let stream = device.default_stream();
    let _kept = device.allocate(300, &stream).unwrap();
    drop(device.allocate(1000, &stream).unwrap());
    device.reset_peak_memory_stats();
    let values = ["current", "peak"].map(|m| stat(&device, &format!("active_bytes.all.{m}")));
    assert_eq!(values, [300, 300]);
}

#[test]
fn registry_get_device_stats_lazy_init() {
    let runtime = SimulatedRuntime::builder().devices(2).build();
    let allocator = Allocator::builder().runtime(runtime).build().unwrap();
    let device = allocator.device(DeviceId(1)).unwrap();
    assert_eq!(device.memory_stats().to_map()["allocation_requests"], 0);
    let _block = device.allocate(64, &device.default_stream()).unwrap();
    assert_eq!(device.memory_stats().to_map()["allocation_requests"], 1);
}

#[test]
fn registry_get_memory_stats_returns_correct_values() {
    let (_, device) = device(256);
    let _block = device.allocate(5 * MIB + 1, &device.default_stream()).unwrap();
    let values = ["reserved_bytes", "allocated_bytes", "active_bytes"]
        .map(|family| stat(&device, &format!("{family}.all.current")));
    assert_eq!(values, [64 * MIB, 6 * MIB, 5 * MIB + 1]);
}

#[test]
fn registry_reset_peak_stats() {
    let (_, device) = device(256);
    drop(device.allocate(20 * MIB, &device.default_stream()).unwrap());
    device.empty_cache().unwrap();
    assert_eq!((device.max_memory_reserved(), device.max_memory_allocated()), (20 * MIB, 20 * MIB));
    device.reset_peak_memory_stats();
    assert_eq!((device.max_memory_reserved(), device.max_memory_allocated()), (0, 0));
}

#[test]
fn registry_reset_accumulated_stats() {
    let (_, device) = device(256);
    let stream = device.default_stream();
    let _kept = device.allocate(1000, &stream).unwrap();
    drop(device.allocate(1000, &stream).unwrap());
    device.reset_accumulated_memory_stats();
    for key in ["allocation_requests", "num_tensor_frees", "num_alloc_retries", "num_ooms"] {
        assert_eq!(stat(&device, key), 0, "{key}");
    }
    let values =
        ["current", "peak", "allocated", "freed"].map(|m| stat(&device, &format!("active_bytes.all.{m}")));
    assert_eq!(values, [1000, 2000, 0, 0]);
}

#[test]
fn registry_multiple_devices() {
    let runtime = SimulatedRuntime::builder().devices(3).build();
    let allocator = Allocator::builder().runtime(runtime).build().unwrap();
    let blocks: Vec<_> = (1..=3)
        .zip(allocator.devices())
        .map(|(n, device)| device.allocate(n * 1000, &device.default_stream()).unwrap())
        .collect();
    let active = |device: &neuronx_mem::Device| stat(device, "active_bytes.all.current");
    assert_eq!(allocator.devices().iter().map(active).collect::<Vec<_>>(), [1000, 2000, 3000]);
    drop(blocks);
}

#[test]
fn registry_uninitialized_device_returns_zeros() {
    let (_, device) = device(256);
    let map = device.memory_stats().to_map();
    assert!(map.iter().all(|(key, value)| *value == 0 || (key == "max_split_size" && *value == -1)));
}

#[test]
fn device_memory_stats_reset_peak() {
    let (_, device) = device(256);
    let stream = device.default_stream();
    drop(device.allocate(20 * MIB, &stream).unwrap());
    device.reset_peak_memory_stats();
    for family in ["allocated_bytes", "reserved_bytes", "active_bytes"] {
        let [current, peak] = ["current", "peak"].map(|m| stat(&device, &format!("{family}.all.{m}")));
        assert_eq!(current, peak, "{family}");
    }
}

#[test]
fn device_memory_stats_reset_counters() {
    let (_, device) = device(64);
    let stream = device.default_stream();
    assert!(device.allocate(100 * MIB, &stream).is_err());
    drop(device.allocate(MIB, &stream).unwrap());
    let counters = ["allocation_requests", "num_tensor_frees", "num_alloc_retries", "num_ooms"];
    assert_eq!(counters.map(|key| stat(&device, key)), [2, 1, 1, 1]);
    device.reset_accumulated_memory_stats();
    assert_eq!(counters.map(|key| stat(&device, key)), [0; 4]);
}

/// Eight threads count a thousand times each; nothing is lost.
#[test]
fn counter_thread_safety() {
    let (_, device) = device(256);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let stream = device.default_stream();
                (0..1000).for_each(|_| drop(device.allocate(256, &stream).unwrap()));
            });
        }
    });
    assert_eq!(["allocation_requests", "num_tensor_frees"].map(|key| stat(&device, key)), [8000, 8000]);
    assert_eq!(device.memory_allocated(), 0);
}

/// Readers beside writers see states that existed.
#[test]
fn metric_thread_safety() {
    let (_, device) = device(256);
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    let map = device.memory_stats().to_map();
                    let blocks = map["allocation.all.current"];
                    assert_eq!(map["active_bytes.all.current"], blocks * 1000);
                    assert_eq!(map["allocated_bytes.all.current"], blocks * 1024);
                }
            });
        }
        let stream = device.default_stream();
        let written = (0..5000).try_for_each(|_| device.allocate(1000, &stream).map(drop));
        is_done.store(true, Ordering::Relaxed);
        written.unwrap();
    });
}
