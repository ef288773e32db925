//! Memory history and snapshots through the facade (memory profiling guide, step 4; allocator
//! semantics §9): events in order, states, sums, files.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use neuronx_mem::sim::SimulatedRuntime;
use neuronx_mem::snapshot::history::{ActionSet, RecordOptions, Recording, SharedStacks, StackProvider};
use neuronx_mem::snapshot::{Action, BlockState, Limits, Snapshot, StackId, StackTable};
use neuronx_mem::{Allocator, Device, DeviceId};

const MIB: u64 = 1 << 20;

/// A device with a clock that counts its own readings.
fn device_with(memory_bytes: u64) -> Device {
    let time = Arc::new(AtomicU64::new(0));
    let runtime = SimulatedRuntime::builder().memory_bytes(memory_bytes).build();
    let clock = move || time.fetch_add(1, Ordering::Relaxed);
    let allocator = Allocator::builder().runtime(runtime).clock_us(clock).build().unwrap();
    allocator.device(DeviceId(0)).unwrap().clone()
}

fn recording() -> Device {
    let device = device_with(1 << 30);
    device.record_memory_history(&RecordOptions::builder().build());
    device
}

/// Each event as "action address-in-MiB size stream time trace-id".
fn events(snapshot: &Snapshot) -> Vec<String> {
    let stacks = snapshot.stacks();
    let base = 1u64 << 44;
    let line = |entry: &neuronx_mem::snapshot::TraceEntry| {
        let addr = entry.addr().map_or("-".to_owned(), |addr| format!("{:#x}", addr.wrapping_sub(base)));
        let (size, stream) = (entry.size_bytes().unwrap_or(0), entry.stream().unwrap_or(0));
        let (time, id) = (entry.time_us().unwrap_or(0), entry.trace_id().unwrap_or(0));
        format!("{} {addr} {size} s{stream} t{time} #{id}", entry.action().name(stacks))
    };
    snapshot.trace(0).iter().map(line).collect()
}

#[track_caller]
fn assert_sound(device: &Device, snapshot: &Snapshot) {
    assert_eq!(snapshot.verify(), []);
    let sum = |value: fn(&neuronx_mem::snapshot::Segment) -> Option<u64>| -> u64 {
        snapshot.segments.iter().filter_map(value).sum()
    };
    let usage = device.usage();
    assert_eq!(sum(neuronx_mem::snapshot::Segment::total_bytes), usage.reserved_bytes);
    assert_eq!(
        sum(neuronx_mem::snapshot::Segment::active_bytes),
        usage.allocated_bytes + usage.padding_bytes
    );
    assert_eq!(sum(neuronx_mem::snapshot::Segment::requested_bytes), usage.active_bytes);
}

#[test]
fn events_come_in_order_with_requested_sizes() {
    let device = recording();
    let stream = device.new_stream().unwrap();
    let a = device.allocate(1000, &device.default_stream()).unwrap();
    let b = device.allocate(3 * MIB, &stream).unwrap();
    drop(a);
    let work = stream.submit().unwrap();
    drop(b);
    stream.complete(work).unwrap();
    device.empty_cache().unwrap();
    assert_eq!(
        events(&device.snapshot()),
        [
            "segment_alloc 0x0 2097152 s0 t0 #1",
            "alloc 0x0 1000 s0 t1 #2",
            "segment_alloc 0x200000 67108864 s1 t2 #3",
            "alloc 0x200000 3145728 s1 t3 #4",
            "free_requested 0x0 1000 s0 t4 #5",
            "free_completed 0x0 1000 s0 t4 #6",
            "free_requested 0x200000 3145728 s1 t5 #7",
            "free_completed 0x200000 3145728 s1 t6 #8",
            "segment_free 0x0 2097152 s0 t7 #9",
            "segment_free 0x200000 67108864 s0 t8 #10",
        ]
    );
    // The snapshot itself shows in the next one.
    assert_eq!(events(&device.snapshot()).last().unwrap(), "snapshot 0xfffff00000000000 0 s0 t9 #11");
}

#[test]
fn blocks_have_their_states_and_sums_hold() {
    let device = recording();
    let _live = device.allocate(1000, &device.default_stream()).unwrap();
    let pending = device.allocate(20 * MIB + 1, &device.default_stream()).unwrap();
    device.default_stream().submit().unwrap();
    drop(pending);
    let snapshot = device.snapshot();
    assert_sound(&device, &snapshot);
    let states: Vec<Option<BlockState>> =
        snapshot.segments.iter().flat_map(|s| s.blocks()).map(|block| block.state()).collect();
    assert_eq!(
        states,
        [
            Some(BlockState::ActiveAllocated),
            Some(BlockState::Inactive),
            Some(BlockState::ActivePendingFree),
            Some(BlockState::Inactive)
        ]
    );
    let live = snapshot.replay_live_blocks(0);
    let base = 1u64 << 44;
    let blocks: Vec<(u64, u64)> = live.requested_bytes.iter().map(|(a, n)| (a - base, *n)).collect();
    assert_eq!(blocks, [(0, 1000), (2 * MIB, 20 * MIB + 1)]);
}

#[test]
fn out_of_memory_is_an_event_with_the_free_bytes_of_the_device() {
    let device = device_with(64 * MIB);
    device.record_memory_history(&RecordOptions::builder().build());
    let _held = device.allocate(20 * MIB, &device.default_stream()).unwrap();
    assert!(device.allocate(50 * MIB, &device.default_stream()).is_err());
    let snapshot = device.snapshot();
    let oom = snapshot.trace(0).last().unwrap();
    assert_eq!(oom.action(), Action::Oom);
    assert_eq!(
        (oom.size_bytes(), oom.device_free_bytes(), oom.addr()),
        (Some(50 * MIB), Some(44 * MIB), None)
    );
}

#[test]
fn the_ring_wraps_and_says_how_many_events_it_dropped() {
    let device = device_with(1 << 30);
    device.record_memory_history(&RecordOptions::builder().max_entries(4).build());
    for _ in 0..3 {
        drop(device.allocate(1, &device.default_stream()).unwrap());
    }
    let snapshot = device.snapshot();
    let ids: Vec<Option<u64>> = snapshot.trace(0).iter().map(|entry| entry.trace_id()).collect();
    assert_eq!(ids, [Some(7), Some(8), Some(9), Some(10)]);
    assert_eq!(snapshot.dropped_entries(), 6);
}

#[test]
fn off_keeps_nothing_and_a_dump_still_has_the_segments() {
    let device = device_with(1 << 30);
    let _block = device.allocate(1, &device.default_stream()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = device.export_snapshot(folder.path()).unwrap();
    assert_eq!(path.file_name().unwrap(), "memory_snapshot.pickle");
    let read = Snapshot::read_file(&path, &Limits::default()).unwrap();
    assert_eq!((read.segments.len(), read.trace(0).len()), (1, 0));
    assert_eq!(read, device.snapshot());
    device.record_memory_history(&RecordOptions::builder().recording(Recording::Off).build());
    assert!(device.snapshot().trace(0).is_empty());
}

#[test]
fn settings_hold_the_eleven_keys_and_the_hash() {
    let snapshot = recording().snapshot();
    let setting = |key| snapshot.setting(key).and_then(neuronx_mem::snapshot::Value::as_int);
    assert_eq!(setting("kMaxSplitSizeBytes"), Some(i128::from(u64::MAX)));
    assert_eq!(setting("kRoundupPower2Divisions"), Some(4));
    assert_eq!(snapshot.config_hash(), Some(0xe939_a336_4c62_0515));
}

#[test]
fn skipped_actions_and_metadata() {
    let device = device_with(1 << 30);
    let skipped = ActionSet::from_names(&["free_requested", "segment_alloc"]).unwrap();
    device.record_memory_history(&RecordOptions::builder().skip_actions(skipped).build());
    device.set_memory_metadata("step 1");
    drop(device.allocate(1, &device.default_stream()).unwrap());
    let snapshot = device.snapshot();
    let stacks = snapshot.stacks();
    let kept: Vec<(&str, Option<&str>)> =
        snapshot.trace(0).iter().map(|e| (e.action().name(stacks), e.user_metadata(stacks))).collect();
    assert_eq!(kept, [("alloc", Some("step 1")), ("free_completed", Some("step 1"))]);
}

/// Gives every capture the next line number.
struct Lines(u64);

impl StackProvider for Lines {
    fn capture(&mut self, stacks: &mut StackTable) -> Option<StackId> {
        self.0 += 1;
        let frame = stacks.intern_frame("forward", "model.py", self.0);
        Some(stacks.intern_stack(&[frame]))
    }
}

#[test]
fn stacks_reach_events_and_live_blocks() {
    let device = recording();
    device.set_stack_provider(Lines(0));
    let a = device.allocate(1, &device.default_stream()).unwrap();
    let _b = device.allocate(1, &device.default_stream()).unwrap();
    drop(a);
    let snapshot = device.snapshot();
    let stacks = snapshot.stacks();
    let line =
        |stack: Option<StackId>| stack.and_then(|id| stacks.frames(id).next()).map(|frame| frame.line());
    let of_events: Vec<Option<u64>> = snapshot.trace(0).iter().map(|entry| line(entry.stack())).collect();
    assert_eq!(of_events, [Some(1), Some(1), Some(2), Some(3), Some(3)]);
    let of_blocks: Vec<Option<u64>> =
        snapshot.segments[0].blocks().iter().map(|block| line(block.stack())).collect();
    assert_eq!(of_blocks, [None, Some(2), None]);
}

#[test]
fn a_snapshot_of_several_devices_has_a_trace_for_each() {
    let runtime = SimulatedRuntime::builder().devices(3).build();
    let allocator = Allocator::builder().runtime(runtime).clock_us(|| 7).build().unwrap();
    for device in allocator.devices() {
        device.record_memory_history(&RecordOptions::builder().build());
    }
    let device = allocator.device(DeviceId(2)).unwrap();
    let _block = device.allocate(1, &device.default_stream()).unwrap();
    let snapshot = allocator.snapshot();
    assert_eq!(snapshot.verify(), []);
    assert_eq!([0, 1, 2].map(|idx| snapshot.trace(idx).len()), [0, 0, 2]);
    assert_eq!(snapshot.segments[0].device(), Some(2));
}

#[test]
fn the_analysis_of_a_dumped_file_equals_the_live_one() {
    use neuronx_mem::fragmentation::{Analysis, DeviceLayout, SnapshotOptions};
    let device = recording();
    let held: Vec<_> =
        (1..40u64).map(|n| device.allocate(n * 50_000, &device.default_stream()).unwrap()).collect();
    drop(held.into_iter().step_by(3).collect::<Vec<_>>());
    let layout = device.layout();
    let mut options = SnapshotOptions::default();
    options.total_bytes = Some(layout.total_bytes);
    options.address_range = layout.address_range.clone();
    let bytes = device.snapshot().to_pickle().unwrap();
    let snapshot = Snapshot::read_slice(&bytes, &Limits::default()).unwrap();
    let mut from_file = DeviceLayout::from_snapshot(&snapshot, 0, &options);
    // A file has a (here empty) stack for each live block; the live layout has none.
    from_file.segments.iter_mut().flat_map(|s| &mut s.blocks).for_each(|block| block.stack = None);
    assert_eq!(from_file, layout);
    assert_eq!(Analysis::of(&from_file), device.segment_pool_analysis());
}

/// Gives every capture the next number, and asks the device something while it does.
struct Numbered {
    device: Device,
    n_captured: AtomicUsize,
}

impl SharedStacks for Numbered {
    fn capture(&self) -> Option<StackId> {
        // Takes the device's lock: a source that is asked under it would never return.
        self.device.inspect(|_| ());
        Some(StackId::from_index(self.n_captured.fetch_add(1, Ordering::Relaxed) + 1))
    }

    fn table(&self) -> StackTable {
        self.device.inspect(|_| ());
        let mut table = StackTable::new();
        for line in 1..=self.n_captured.load(Ordering::Relaxed) {
            let frame = table.intern_frame("step", "train.py", line as u64 % 2);
            table.append_stack(&[frame]);
        }
        table
    }
}

#[test]
fn a_shared_source_is_asked_with_no_lock_held() {
    let device = recording();
    let source = Arc::new(Numbered { device: device.clone(), n_captured: AtomicUsize::new(0) });
    device.set_shared_stacks(source.clone());
    let a = device.allocate(1, &device.default_stream()).unwrap();
    let _b = device.allocate(1, &device.default_stream()).unwrap();
    drop(a);
    assert_eq!(source.n_captured.load(Ordering::Relaxed), 3);
    let snapshot = device.snapshot();
    let stacks = snapshot.stacks();
    let line =
        |stack: Option<StackId>| stack.and_then(|id| stacks.frames(id).next()).map(|frame| frame.line());
    let of_events: Vec<Option<u64>> = snapshot.trace(0).iter().map(|entry| line(entry.stack())).collect();
    assert_eq!(of_events, [Some(1), Some(1), Some(0), Some(1), Some(1)]);
    // The first and the third number are the same stack, which the snapshot has once.
    assert_eq!(snapshot.trace(0)[0].stack(), snapshot.trace(0)[3].stack());
}

#[test]
fn another_source_starts_anew() {
    let device = recording();
    device.set_stack_provider(Lines(0));
    let _a = device.allocate(1, &device.default_stream()).unwrap();
    let source = Arc::new(Numbered { device: device.clone(), n_captured: AtomicUsize::new(0) });
    device.set_shared_stacks(source.clone());
    let shown = device.snapshot();
    assert_eq!((shown.trace(0).len(), shown.segments[0].blocks()[0].stack()), (0, Some(StackId::EMPTY)));
    let _b = device.allocate(1, &device.default_stream()).unwrap();
    device.set_shared_stacks(source); // the same one: nothing is forgotten
    let n_events = device.snapshot().trace(0).len();
    assert_eq!(n_events, 2); // the snapshot before, and the allocation
    device.set_stack_provider(Lines(0));
    assert_eq!(device.snapshot().trace(0).len(), 0);
}
