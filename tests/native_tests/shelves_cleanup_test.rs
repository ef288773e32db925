//! ShelvesCleanupTest.cpp: callbacks that let go of tensors when memory runs out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use neuronx_mem::Device;

use super::{MIB, device};

/// Registers a callback that counts its runs.
fn counting(device: &Device) -> Arc<AtomicU64> {
    let runs = Arc::new(AtomicU64::new(0));
    let of_callback = Arc::clone(&runs);
    device.register_release_callback(move || {
        of_callback.fetch_add(1, Ordering::Relaxed);
    });
    runs
}

/// Asks for more than there is.
fn run_out(device: &Device) {
    assert!(device.allocate(200 * MIB, &device.default_stream()).unwrap_err().is_out_of_memory());
}

#[test]
fn register_and_trigger() {
    let (_, device) = device(64);
    let runs = counting(&device);
    run_out(&device);
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

#[test]
fn unregister_nonexistent_id_is_safe() {
    let (_, device) = device(64);
    let id = device.register_release_callback(|| {});
    assert!(device.unregister_release_callback(id));
    assert!(!device.unregister_release_callback(id));
    run_out(&device);
    assert_eq!(device.release_callback_runs(), 0);
}

#[test]
fn trigger_count_increments_on_each_call() {
    let (_, device) = device(64);
    let _runs = counting(&device);
    for expected in 1..=3 {
        run_out(&device);
        assert_eq!(device.release_callback_runs(), expected);
    }
}

#[test]
fn multiple_callbacks_all_called() {
    let (_, device) = device(64);
    let runs = [(); 3].map(|()| counting(&device));
    run_out(&device);
    assert_eq!(runs.map(|runs| runs.load(Ordering::Relaxed)), [1, 1, 1]);
}
