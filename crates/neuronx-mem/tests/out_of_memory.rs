//! Recovery beyond the two plain steps (allocator semantics §6): release callbacks, the memory cap,
//! and what the error tells its reader.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::sync::{Arc, Mutex};

use neuronx_mem::config::{AllocatorConfig, ConfigKey};
use neuronx_mem::sim::{Lnc, Preset, SimulatedRuntime};
use neuronx_mem::{Advice, AllocError, Allocator, Block, Device, DeviceId, OutOfMemory, StepKind};

const MIB: u64 = 1 << 20;

fn device_with(config: &str, memory_bytes: u64, is_recovery_enabled: bool) -> Device {
    let runtime = SimulatedRuntime::builder().memory_bytes(memory_bytes).build();
    let config = AllocatorConfig::parse(config).config;
    let builder = Allocator::builder().runtime(runtime).config(config).oom_recovery(is_recovery_enabled);
    builder.build().unwrap().device(DeviceId(0)).unwrap().clone()
}

fn allocate(device: &Device, bytes: u64) -> Block {
    device.allocate(bytes, &device.default_stream()).unwrap()
}

fn fail(device: &Device, bytes: u64) -> Box<OutOfMemory> {
    match device.allocate(bytes, &device.default_stream()) {
        Err(AllocError::OutOfMemory(error)) => error,
        other => panic!("expected out of memory, got {other:?}"),
    }
}

#[test]
fn release_callbacks_run_during_recovery_only_and_in_order() {
    let device = device_with("", 64 * MIB, true);
    let shelf = Arc::new(Mutex::new(vec![allocate(&device, 40 * MIB)]));
    let calls = Arc::new(Mutex::new(Vec::new()));
    let first = {
        let (shelf, calls) = (Arc::clone(&shelf), Arc::clone(&calls));
        device.register_release_callback(move || {
            calls.lock().unwrap().push("first");
            shelf.lock().unwrap().clear();
        })
    };
    let second = {
        let calls = Arc::clone(&calls);
        device.register_release_callback(move || calls.lock().unwrap().push("second"))
    };
    drop(allocate(&device, 20 * MIB));
    assert_eq!(device.release_callback_runs(), 0);
    let block = allocate(&device, 60 * MIB);
    assert_eq!(*calls.lock().unwrap(), ["first", "second"]);
    assert_eq!(device.memory_stats().counters().alloc_retries, 1);
    drop(block);
    assert!(device.unregister_release_callback(first) && device.unregister_release_callback(second));
    assert!(!device.unregister_release_callback(first));
    fail(&device, 65 * MIB);
    assert_eq!(device.release_callback_runs(), 1);
}

#[test]
fn callbacks_belong_to_the_second_step() {
    let device = device_with("", 64 * MIB, false);
    let _held = allocate(&device, 40 * MIB);
    device.register_release_callback(|| {});
    fail(&device, 60 * MIB);
    assert_eq!(device.release_callback_runs(), 0);
}

#[test]
fn a_callback_may_empty_the_cache_and_allocate_without_a_second_recovery() {
    let device = device_with("", 64 * MIB, true);
    let _held = allocate(&device, 40 * MIB);
    let inner = device.clone();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    device.register_release_callback(move || {
        inner.empty_cache().unwrap();
        let nested = inner.allocate(50 * MIB, &inner.default_stream());
        log.lock().unwrap().push(nested.unwrap_err().is_out_of_memory());
    });
    let error = fail(&device, 60 * MIB);
    assert_eq!(*seen.lock().unwrap(), [true]);
    assert_eq!(device.memory_stats().counters().ooms, 2);
    let kinds: Vec<StepKind> = error.steps.iter().map(|step| step.kind).collect();
    assert_eq!(kinds, [StepKind::RunCallbacks, StepKind::WaitForOtherStreams, StepKind::ReleaseSegments]);
}

#[test]
fn a_cap_acts_as_the_total() {
    let device = device_with("", 1024 * MIB, true);
    device.set_memory_fraction(0.125).unwrap();
    assert_eq!(device.memory_cap_bytes(), Some(128 * MIB));
    let _held = allocate(&device, 100 * MIB);
    let error = fail(&device, 50 * MIB);
    assert_eq!((error.effective_total_bytes(), error.cap_bytes), (128 * MIB, Some(128 * MIB)));
    assert_eq!(error.advice()[0], Advice::RaiseCap { cap_bytes: 128 * MIB, total_bytes: 1024 * MIB });
    assert_eq!(device.segment_pool_analysis().total_bytes, 128 * MIB);
    device.set_memory_cap_bytes(None);
    let _fits = allocate(&device, 50 * MIB);
    // A cap above the device is none.
    device.set_memory_cap_bytes(Some(2048 * MIB));
    assert_eq!(device.memory_cap_bytes(), None);
}

#[test]
fn a_cap_below_what_is_reserved_takes_nothing_back() {
    let device = device_with("", 1024 * MIB, true);
    let _held = allocate(&device, 100 * MIB);
    device.set_memory_cap_bytes(Some(10 * MIB));
    assert_eq!(device.memory_reserved(), 100 * MIB);
    fail(&device, MIB);
}

#[test]
fn fractions_outside_0_to_1_are_typed() {
    let device = device_with("", 64 * MIB, true);
    for fraction in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let error = AllocError::InvalidFraction { fraction: fraction.to_string() };
        assert_eq!(device.set_memory_fraction(fraction), Err(error));
    }
    assert_eq!(device.memory_cap_bytes(), None);
}

#[test]
fn at_lnc_1_the_error_shows_the_neighbours_half() {
    let runtime = SimulatedRuntime::builder().preset(Preset::Trn2).lnc(Lnc::One).build();
    let allocator = Allocator::builder().runtime(runtime).build().unwrap();
    let device = allocator.device(DeviceId(0)).unwrap();
    let error = fail(device, 13 << 30);
    assert_eq!((error.total_bytes, error.used_by_others_bytes), (24 << 30, 12 << 30));
    assert_eq!(error.largest_gap_bytes, Some(12 << 30));
}

#[track_caller]
fn check_advice(device: &Device, bytes: u64, expected: &[Advice]) {
    assert_eq!(fail(device, bytes).advice(), expected);
}

#[test]
fn advice_follows_from_the_numbers() {
    let device = device_with("", 64 * MIB, true);
    check_advice(&device, 100 * MIB, &[Advice::LargerThanDevice { total_bytes: 64 * MIB }]);
    let cut_short = device_with("", 60 * MIB, true);
    let smaller = Advice::SmallerSegments {
        segment_bytes: 64 * MIB,
        available_bytes: 60 * MIB,
        key: ConfigKey::MediumSegmentSize,
    };
    check_advice(&cut_short, MIB, &[smaller]);
    let coarse = device_with("kSegmentAlignment=33554432", 60 * MIB, true);
    let smaller = Advice::SmallerSegments {
        segment_bytes: 64 * MIB,
        available_bytes: 60 * MIB,
        key: ConfigKey::SegmentAlignment,
    };
    check_advice(&coarse, 40 * MIB, &[smaller]);
    let held = allocate(&device, 40 * MIB);
    let less = Advice::HoldLess { allocated_bytes: 40 * MIB, total_bytes: 64 * MIB };
    check_advice(&device, 30 * MIB, &[less]);
    drop(held);
    let device = device_with("", 64 * MIB, false);
    drop(allocate(&device, 40 * MIB));
    check_advice(&device, 50 * MIB, &[Advice::EnableRecovery { cached_bytes: 40 * MIB }]);
}

#[test]
fn advice_never_names_a_knob_that_is_set_already() {
    // 128 MiB in two pieces of 64 MiB, each with a live block at its end.
    let pieces = |config: &str| {
        let device = device_with(config, 128 * MIB, true);
        let mut blocks: Vec<Block> = (0..128).map(|_| allocate(&device, MIB)).collect();
        let _keep = [blocks.remove(127), blocks.remove(63)];
        blocks.clear();
        fail(&device, 64 * MIB).advice()
    };
    let cached_free_bytes = 126 * MIB;
    assert_eq!(pieces(""), [Advice::LimitSplitting { cached_free_bytes }]);
    let current_bytes = 100 * MIB;
    assert_eq!(
        pieces("kMaxSplitSizeBytes=104857600"),
        [Advice::LowerSplitLimit { cached_free_bytes, current_bytes }]
    );
}

#[test]
fn advice_for_a_block_that_may_not_be_split() {
    let config = "kMaxSplitSizeBytes=33554432,kMaxNonSplitRoundingBytes=1048576";
    let device = device_with(config, 64 * MIB, false);
    drop(allocate(&device, 64 * MIB));
    let error = fail(&device, 40 * MIB);
    let refused = Advice::RaiseNonSplitRounding { current_bytes: MIB, needed_bytes: 24 * MIB };
    assert_eq!(error.advice()[1], refused);
}

#[test]
fn the_report_has_every_number() {
    let config = "kMaxSplitSizeBytes=67108864,kMaxNonSplitRoundingBytes=1048576";
    let device = device_with(config, 256 * MIB, true);
    let other = device.new_stream().unwrap();
    let _held: Vec<Block> = (0..10).map(|n| allocate(&device, (n + 1) * MIB)).collect();
    let _large = allocate(&device, 100 * MIB);
    let pending = device.allocate(20 * MIB, &other).unwrap();
    other.submit().unwrap();
    drop(pending);
    device.default_stream().submit().unwrap();
    device.set_memory_cap_bytes(Some(200 * MIB));
    insta::assert_snapshot!(fail(&device, 96 * MIB).report());
}

#[test]
fn the_report_when_recovery_is_off_and_nothing_is_held() {
    let device = device_with("", 32 * MIB, false);
    insta::assert_snapshot!(fail(&device, MIB).report());
}
