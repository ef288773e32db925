//! The detector over the simulated device: each mistake is found where it was made, named with its
//! numbers and both stacks, and programs without a mistake have no findings.

#![cfg(feature = "detector")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::cell::Cell;
use std::sync::Arc;

use neuronx_mem::detector::{CallStack, DetectorOptions, Finding, FindingKind, POISON};
use neuronx_mem::sim::SimulatedRuntime;
use neuronx_mem::snapshot::history::StackProvider;
use neuronx_mem::snapshot::{StackId, StackTable};
use neuronx_mem::{Allocator, Device, DeviceId};

const MIB: u64 = 1 << 20;
const DEVICE: DeviceId = DeviceId(0);

thread_local! {
    static LINE: Cell<u64> = const { Cell::new(0) };
}

/// The line of the program under test that comes next.
fn line(line: u64) {
    LINE.set(line);
}

/// A stack of two frames: the line that was set, in a function.
struct Lines;

impl StackProvider for Lines {
    fn capture(&mut self, stacks: &mut StackTable) -> Option<StackId> {
        let inner = stacks.intern_frame("step", "train.py", LINE.get());
        let outer = stacks.intern_frame("main", "train.py", 3);
        Some(stacks.intern_stack(&[inner, outer]))
    }
}

fn setup(options: DetectorOptions) -> (Arc<SimulatedRuntime>, Device) {
    let runtime = Arc::new(SimulatedRuntime::builder().memory_bytes(1 << 30).build());
    let allocator = Allocator::builder().shared_runtime(runtime.clone()).detector(options).build().unwrap();
    let device = allocator.device(DEVICE).unwrap().clone();
    device.set_stack_provider(Lines);
    (runtime, device)
}

/// The one finding there is.
#[track_caller]
fn only(device: &Device) -> Finding<CallStack> {
    let findings = device.detector_findings();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    findings[0].clone()
}

/// Addresses depend on nothing but the simulator, so they may stand in the text.
fn report(device: &Device) -> String {
    only(device).report()
}

#[test]
fn use_after_free_by_address() {
    let (_, device) = setup(DetectorOptions::default());
    let stream = device.default_stream();
    line(10);
    let block = device.allocate(1000, &stream).unwrap();
    let address = block.address();
    line(11);
    drop(block);
    line(12);
    stream.submit().unwrap();
    let finding = device.note_use(address + 100, 50, &stream).unwrap_err();
    let FindingKind::UseAfterFree { address: found, bytes, stream, ticket } = finding.kind else { panic!() };
    assert_eq!((found, bytes, stream, ticket), (address + 100, 50, 0, 1));
    assert_eq!(finding.block.unwrap().requested_bytes, 1000);
    insta::assert_snapshot!(report(&device));
}

#[test]
fn use_after_free_while_the_free_still_waits() {
    let (_, device) = setup(DetectorOptions::default());
    let stream = device.default_stream();
    let block = device.allocate(1000, &stream).unwrap();
    let handle = block.handle().unwrap();
    stream.submit().unwrap();
    drop(block);
    assert!(!device.memory_stats().is_settled());
    let finding = device.note_use_of(handle, &stream).unwrap_err();
    assert_eq!(finding.kind.name(), "use-after-free");
}

#[test]
fn a_stale_handle_is_known_although_its_memory_has_a_new_owner() {
    let (_, device) = setup(DetectorOptions::default());
    let stream = device.default_stream();
    let block = device.allocate(1000, &stream).unwrap();
    let stale = block.handle().unwrap();
    drop(block);
    let again = device.allocate(1000, &stream).unwrap();
    assert_eq!(again.address(), stale.address);
    assert_eq!(device.note_use_of(stale, &stream).unwrap_err().kind.name(), "use-after-free");
    assert!(device.note_use(again.address(), 1000, &stream).is_ok());
}

#[test]
fn quarantine_keeps_an_address_freed() {
    let (_, device) = setup(DetectorOptions::default().with_quarantine_bytes(4096));
    let stream = device.default_stream();
    let first = device.allocate(1000, &stream).unwrap();
    let address = first.address();
    drop(first);
    let second = device.allocate(1000, &stream).unwrap();
    assert_ne!(second.address(), address);
    assert!(device.note_use(address, 1000, &stream).is_err());
    // Four more blocks of 1024 bytes push the first out.
    for _ in 0..4 {
        drop(device.allocate(1000, &stream).unwrap());
    }
    assert_eq!(device.allocate(1000, &stream).unwrap().address(), address);
}

#[test]
fn quarantine_goes_before_memory_runs_out() {
    let (_, device) = setup(DetectorOptions::default().with_quarantine_bytes(u64::MAX));
    let stream = device.default_stream();
    for _ in 0..10 {
        drop(device.allocate(600 * MIB, &stream).unwrap());
    }
    let counters = device.memory_stats().counters();
    assert_eq!((counters.ooms, counters.alloc_retries, device.detector_findings()), (0, 0, vec![]));
    device.empty_cache().unwrap();
    assert_eq!((device.memory_reserved(), device.memory_allocated()), (0, 0));
}

#[test]
fn double_free() {
    let (_, device) = setup(DetectorOptions::default());
    let stream = device.default_stream();
    line(20);
    let handle = device.allocate(5 * MIB, &stream).unwrap().into_handle().unwrap();
    line(21);
    device.free_handle(handle).unwrap();
    line(22);
    assert!(device.free_handle(handle).is_err());
    assert_eq!(only(&device).kind, FindingKind::DoubleFree);
    insta::assert_snapshot!(report(&device));
}

#[test]
fn invalid_free() {
    let (_, device) = setup(DetectorOptions::default());
    let (_, other) = setup(DetectorOptions::default());
    let mut handle = other.allocate(1000, &other.default_stream()).unwrap().into_handle().unwrap();
    handle.address = 0x7000;
    line(30);
    assert!(device.free_handle(handle).is_err());
    assert_eq!(only(&device).kind, FindingKind::InvalidFree { address: 0x7000 });
    insta::assert_snapshot!(report(&device));
}

#[test]
fn unrecorded_stream() {
    let (_, device) = setup(DetectorOptions::default());
    let (own, side) = (device.default_stream(), device.new_stream().unwrap());
    line(40);
    let block = device.allocate(2 * MIB, &own).unwrap();
    side.submit().unwrap();
    line(41);
    block.note_use(&side).unwrap();
    assert_eq!(device.detector_findings(), []);
    line(42);
    drop(block);
    assert_eq!(only(&device).kind, FindingKind::UnrecordedStream { stream: side.id().0, ticket: 1 });
    insta::assert_snapshot!(report(&device));
}

#[test]
fn a_stream_that_was_recorded_waited_for_or_is_done_is_no_finding() {
    let (_, device) = setup(DetectorOptions::default());
    let (own, side) = (device.default_stream(), device.new_stream().unwrap());
    let used = || {
        let block = device.allocate(2 * MIB, &own).unwrap();
        let ticket = side.submit().unwrap();
        block.note_use(&side).unwrap();
        (block, ticket)
    };
    let (recorded, _) = used();
    recorded.record_stream(&side).unwrap();
    drop(recorded);
    let (waited, _) = used();
    own.note_wait(&side);
    drop(waited);
    let (synchronized, _) = used();
    side.synchronize();
    drop(synchronized);
    let (completed, ticket) = used();
    side.complete(ticket).unwrap();
    drop(completed);
    let (late, _) = used();
    device.synchronize();
    drop(late);
    assert_eq!(device.detector_findings(), []);
    // A wait covers what was submitted before it, and no more.
    own.note_wait(&side);
    drop(used().0);
    assert_eq!(only(&device).kind.name(), "unrecorded-stream");
}

#[test]
fn write_after_free() {
    let (runtime, device) = setup(DetectorOptions::default());
    let stream = device.default_stream();
    line(50);
    let block = device.allocate(1000, &stream).unwrap();
    let address = block.address();
    line(51);
    drop(block);
    assert_eq!(runtime.read_address(DEVICE, address, 1), Some(vec![POISON]));
    // A kernel that is still running writes its result.
    assert!(runtime.write_address(DEVICE, address + 64, &[1, 2, 3]));
    line(52);
    let _again = device.allocate(1000, &stream).unwrap();
    let kind = FindingKind::WriteAfterFree { address: address + 64, expected: POISON, found: 1 };
    assert_eq!(only(&device).kind, kind);
    insta::assert_snapshot!(report(&device));
}

#[test]
fn write_after_free_is_noticed_wherever_the_memory_goes() {
    let free_and_write = |runtime: &SimulatedRuntime, device: &Device| {
        let stream = device.default_stream();
        let (low, high) = (device.allocate(MIB, &stream).unwrap(), device.allocate(MIB, &stream).unwrap());
        let address = high.address();
        drop((low, high));
        assert!(runtime.write_address(DEVICE, address + MIB - 1, &[0]));
    };
    // Merged with its neighbour and handed out as one.
    let (runtime, device) = setup(DetectorOptions::default());
    free_and_write(&runtime, &device);
    let _whole = device.allocate(2 * MIB, &device.default_stream()).unwrap();
    assert_eq!(only(&device).block.unwrap().number, 2);
    // Given back to the runtime.
    let (runtime, device) = setup(DetectorOptions::default());
    free_and_write(&runtime, &device);
    device.empty_cache().unwrap();
    assert_eq!(only(&device).kind.name(), "write-after-free");
    // On demand.
    let (runtime, device) = setup(DetectorOptions::default());
    free_and_write(&runtime, &device);
    device.verify_freed_memory();
    assert_eq!(only(&device).kind.name(), "write-after-free");
}

#[test]
fn without_poison_the_memory_is_left_alone() {
    let (runtime, device) = setup(DetectorOptions::default().with_poisoning(false));
    let block = device.allocate(1000, &device.default_stream()).unwrap();
    let handle = block.into_handle().unwrap();
    assert!(runtime.write_address(DEVICE, handle.address, &[5]));
    device.free_handle(handle).unwrap();
    assert_eq!(runtime.read_address(DEVICE, handle.address, 2), Some(vec![5, 0]));
    assert_eq!(
        device.note_use_of(handle, &device.default_stream()).unwrap_err().kind.name(),
        "use-after-free"
    );
    let _again = device.allocate(1000, &device.default_stream()).unwrap();
    assert_eq!(device.n_detector_findings(), 1);
}

#[test]
fn out_of_bounds() {
    let (_, device) = setup(DetectorOptions::default());
    let stream = device.default_stream();
    line(60);
    let block = device.allocate(1000, &stream).unwrap();
    stream.submit().unwrap();
    line(61);
    assert!(device.note_use(block.address(), 1000, &stream).is_ok());
    assert!(device.note_use(block.address() + 990, 20, &stream).is_err());
    insta::assert_snapshot!(report(&device));
}

#[test]
fn unknown_address() {
    let (_, device) = setup(DetectorOptions::default());
    let stream = device.default_stream();
    line(70);
    device.note_use(0x7000, 16, &stream).unwrap_err();
    insta::assert_snapshot!(report(&device));
}

#[test]
fn memory_taken_over_on_its_stream_is_not_ready_for_another() {
    let runtime = Arc::new(SimulatedRuntime::builder().memory_bytes(64 * MIB).build());
    let allocator =
        Allocator::builder().shared_runtime(runtime).detector(DetectorOptions::default()).build().unwrap();
    let device = allocator.device(DEVICE).unwrap().clone();
    device.set_stack_provider(Lines);
    let (own, side) = (device.default_stream(), device.new_stream().unwrap());
    let block = device.allocate(32 * MIB, &own).unwrap();
    let _rest = device.allocate(32 * MIB, &own).unwrap();
    let address = block.address();
    own.submit().unwrap();
    line(80);
    drop(block);
    line(81);
    let block = device.allocate(32 * MIB, &own).unwrap();
    assert_eq!(block.address(), address);
    side.submit().unwrap();
    line(82);
    block.note_use(&side).unwrap_err();
    insta::assert_snapshot!(report(&device));
    side.note_wait(&own);
    assert!(block.note_use(&side).is_ok());
}

#[test]
fn a_mistake_in_a_loop_is_one_finding() {
    let (_, device) = setup(DetectorOptions::default());
    let (own, side) = (device.default_stream(), device.new_stream().unwrap());
    line(90);
    for _ in 0..1000 {
        let block = device.allocate(4096, &own).unwrap();
        side.submit().unwrap();
        block.note_use(&side).unwrap();
    }
    assert_eq!((only(&device).times, device.n_detector_findings()), (1000, 1000));
}

#[test]
fn the_detector_moves_no_block_and_changes_no_statistic() {
    let run = |device: &Device| {
        let (own, side) = (device.default_stream(), device.new_stream().unwrap());
        let (mut addresses, mut live) = (Vec::new(), Vec::new());
        for step in 0..2000 {
            let bytes = (step as u64 * 7919) % (3 * MIB);
            let stream = if step % 3 == 0 { &side } else { &own };
            let block = device.allocate(bytes, stream).unwrap();
            addresses.push(block.address());
            live.push(block);
            if step % 5 == 0 {
                own.submit().unwrap();
            }
            if step % 2 == 0 {
                drop(live.swap_remove(step * 31 % live.len()));
            }
            if step % 50 == 0 {
                device.synchronize();
            }
        }
        drop(live);
        device.synchronize();
        (addresses, device.memory_stats().to_map())
    };
    let runtime = SimulatedRuntime::builder().memory_bytes(24 << 30);
    let plain = Allocator::builder().runtime(runtime.clone().build()).build().unwrap();
    let options = DetectorOptions::default().with_max_freed_blocks(50);
    let watched = Allocator::builder().runtime(runtime.build()).detector(options).build().unwrap();
    let watched = watched.device(DEVICE).unwrap().clone();
    assert_eq!(run(plain.device(DEVICE).unwrap()), run(&watched));
    assert_eq!(watched.detector_findings(), []);
}

#[test]
fn native_stacks_name_this_file() {
    let runtime = SimulatedRuntime::default();
    let allocator =
        Allocator::builder().runtime(runtime).detector(DetectorOptions::default()).build().unwrap();
    let device = allocator.device(DEVICE).unwrap();
    let handle = device.allocate(64, &device.default_stream()).unwrap().into_handle().unwrap();
    device.free_handle(handle).unwrap();
    device.free_handle(handle).unwrap_err();
    let finding = only(device);
    for stack in [finding.allocated, finding.freed, finding.used] {
        let frames = stack.unwrap().frames;
        assert!(frames.iter().any(|frame| frame.file.ends_with("tests/detector.rs")), "{frames:#?}");
    }
}

#[cfg(feature = "worker")]
mod with_a_worker {
    use neuronx_mem::streams::worker::Priority;

    use super::*;

    fn worker_setup() -> Device {
        let runtime = SimulatedRuntime::builder().memory_bytes(1 << 30).build();
        let options = DetectorOptions::default();
        let builder = Allocator::builder().runtime(runtime).detector(options).worker();
        builder.build().unwrap().device(DEVICE).unwrap().clone()
    }

    #[test]
    fn luck_is_no_order() {
        let device = worker_setup();
        let (own, side) = (device.default_stream(), device.new_stream().unwrap());
        let block = device.allocate(MIB, &own).unwrap();
        side.run(|| {}).unwrap();
        block.note_use(&side).unwrap();
        // The work may be done by now, or not: nobody has waited for it.
        drop(block);
        assert_eq!(only(&device).kind.name(), "unrecorded-stream");
    }

    #[test]
    fn every_way_to_wait_is_an_order() {
        let device = worker_setup();
        let own = device.default_stream();
        let side = device.new_stream_with_priority(Priority::DEFAULT).unwrap();
        let used = || {
            let block = device.allocate(MIB, &own).unwrap();
            side.run(|| {}).unwrap();
            block.note_use(&side).unwrap();
            block
        };
        let block = used();
        own.wait_stream(&side).unwrap();
        drop(block);
        let (block, event) = (used(), device.new_event().unwrap());
        side.record_event(&event).unwrap();
        own.wait_event(&event).unwrap();
        drop(block);
        let (block, event) = (used(), device.new_event().unwrap());
        side.record_event(&event).unwrap();
        event.synchronize().unwrap();
        drop(block);
        let block = used();
        side.synchronize();
        drop(block);
        let block = used();
        device.synchronize();
        drop(block);
        let (block, later) = (used(), side.allocate_async(64).unwrap());
        drop(later.wait().unwrap());
        drop(block);
        let (block, event) = (used(), device.new_event().unwrap());
        side.record_event(&event).unwrap();
        while !event.query().unwrap() {
            std::thread::yield_now();
        }
        drop(block);
        assert_eq!(device.detector_findings(), []);
    }

    #[test]
    fn blocks_freed_by_the_worker_are_filled_and_come_back() {
        let device = worker_setup();
        let own = device.default_stream();
        for _ in 0..200 {
            let block = device.allocate(MIB, &own).unwrap();
            own.run(|| {}).unwrap();
            drop(block);
        }
        device.synchronize();
        assert_eq!((device.memory_allocated(), device.memory_stats().is_settled()), (0, true));
        assert_eq!(device.detector_findings(), []);
        device.inspect(|pool| pool.validate()).unwrap();
    }
}
