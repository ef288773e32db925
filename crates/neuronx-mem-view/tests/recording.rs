//! Every trace and every snapshot of the test data as a recording: the sums of replays are the
//! replay's, those of snapshots are what their own segments add up to, and map, sites and timeline
//! say the same at every moment looked at.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::path::{Path, PathBuf};

use neuronx_mem_replay::{Input, ReadOptions, Replay, ReplayOptions, TraceInput, TraceReader};
use neuronx_mem_snapshot::{Limits, Snapshot};
use neuronx_mem_view::{EventKind, MarkKind, Origin, Recording, STILL_LIVE};

/// The workspace's test data.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(folder);
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 5);
    files
}

fn read(path: &Path) -> Recording {
    let input = TraceInput::File(path.to_owned());
    Recording::read(&input, &ReadOptions::default(), &ReplayOptions::default()).unwrap()
}

fn of_text(text: &str, options: &ReplayOptions) -> Recording {
    let input = Input::from_events(TraceReader::new(text.as_bytes(), "text")).unwrap();
    Recording::of(&input, options).unwrap()
}

/// What the columns say of each other at one event.
fn check_moment(recording: &Recording, event: u64) {
    let idx = usize::try_from(event).unwrap();
    let timeline = &recording.timeline;
    let map = recording.map_at(event);
    let reserved: u64 = map.iter().map(|held| held.segment.bytes).sum();
    assert_eq!(reserved, timeline.reserved_bytes[idx], "{} event {event}: segments", recording.name);
    let blocks = map.iter().flat_map(|held| &held.blocks);
    let allocated: u64 = blocks.map(|block| block.bytes).sum();
    assert_eq!(allocated, timeline.allocated_bytes[idx], "{} event {event}: blocks", recording.name);
    let sites: u64 = recording.top_sites_at(event).iter().map(|row| row.block_bytes).sum();
    assert_eq!(sites, allocated, "{} event {event}: sites", recording.name);
    let active = recording.live_at(event).map(|id| recording.allocations.get(id).unwrap().bytes);
    assert_eq!(active.sum::<u64>(), timeline.active_bytes[idx], "{} event {event}", recording.name);
    for held in &map {
        let mut next = held.segment.address;
        for block in &held.blocks {
            assert!(block.address >= next, "{} event {event}: blocks overlap", recording.name);
            next = block.address + block.bytes;
        }
        assert!(next <= held.segment.address + held.segment.bytes, "{} event {event}", recording.name);
    }
}

fn check_moments(recording: &Recording) {
    let n_events = recording.n_events();
    let peak = recording.totals.peak_event;
    for event in [0, n_events / 7, n_events / 3, peak, n_events.saturating_sub(1), n_events] {
        check_moment(recording, event);
    }
    let timeline = &recording.timeline;
    let sums = timeline.reserved_bytes.iter().zip(&timeline.allocated_bytes).zip(&timeline.active_bytes);
    for ((reserved, allocated), active) in sums {
        assert!(reserved >= allocated && allocated >= active, "{}", recording.name);
    }
    let births = &recording.allocations.births;
    assert!(births.is_sorted());
    assert!(births.iter().zip(&recording.allocations.deaths).all(|(birth, death)| birth < death));
}

#[test]
fn traces_say_what_their_replay_says() {
    for path in files("traces") {
        let recording = read(&path);
        check_moments(&recording);
        let input = Input::read(&TraceInput::File(path), &ReadOptions::default()).unwrap();
        let report = Replay::new(ReplayOptions::default()).run(input.trace().events()).unwrap().report;
        let totals = recording.totals;
        assert_eq!(recording.n_events(), report.events);
        assert_eq!(totals.peak_event, report.peak_event.unwrap());
        let most = |column: &[u64]| *column.iter().max().unwrap();
        assert_eq!(most(&recording.timeline.reserved_bytes), report.reserved_peak_bytes);
        assert_eq!(most(&recording.timeline.allocated_bytes), report.allocated_peak_bytes);
        assert_eq!(most(&recording.timeline.active_bytes), report.active_peak_bytes);
        assert_eq!(totals.reserved_peak_bytes, report.reserved_peak_bytes);
        assert_eq!(*recording.timeline.reserved_bytes.last().unwrap(), report.reserved_bytes);
        let n_taken = recording.segments.len() as u64;
        assert_eq!(n_taken, report.segments_allocated);
        assert_eq!(recording.device_total_bytes, Some(report.device_total_bytes));
    }
}

#[test]
fn snapshots_add_up_to_their_own_segments() {
    for path in files("snapshots") {
        let recording = read(&path);
        check_moments(&recording);
        let snapshot = Snapshot::read_file(&path, &Limits::default()).unwrap();
        let Origin::Snapshot { device_idx, is_own, .. } = recording.origin else { panic!("no snapshot") };
        assert!(!is_own);
        let segments = snapshot
            .segments
            .iter()
            .filter(|it| it.device().unwrap_or(0) == i64::try_from(device_idx).unwrap());
        let sum = |of: fn(&neuronx_mem_snapshot::Segment) -> Option<u64>| {
            segments.clone().map(|segment| of(segment).unwrap()).sum::<u64>()
        };
        let name = &recording.name;
        assert_eq!(recording.totals.reserved_bytes, sum(|it| it.total_bytes()), "{name}");
        assert_eq!(recording.totals.allocated_bytes, sum(|it| it.active_bytes()), "{name}");
        assert_eq!(recording.totals.active_bytes, sum(|it| it.requested_bytes()), "{name}");
        assert!(!recording.timeline.times_us.is_empty() && recording.timeline.times_us.is_sorted());
        assert_eq!(recording.timeline.times_us.len(), recording.timeline.reserved_bytes.len());
    }
}

/// The oracle: a replay knows every block size; its snapshot does not, and must be read back to the
/// same sums, block by block.
#[test]
fn a_recorded_replay_reads_back_to_the_same_sums() {
    for name in ["resnet50", "fsdp_llama1b", "int64_small", "gpt2_bf16"] {
        let path = files("traces").into_iter().find(|path| path.to_string_lossy().contains(name)).unwrap();
        let input = Input::read(&TraceInput::File(path), &ReadOptions::default()).unwrap();
        let options = ReplayOptions { until: Some(input.n_events() * 2 / 3), ..ReplayOptions::default() };
        let live = Recording::of(&input, &options).unwrap();
        let snapshot = Replay::new(options).record(input.trace().events()).unwrap().snapshot;
        let input = Input::from_snapshot(Box::new(snapshot), None, name).unwrap();
        let read = Recording::of(&input, &ReplayOptions::default()).unwrap();
        assert!(matches!(read.origin, Origin::Snapshot { is_own: true, n_inferred: 1.., .. }));
        check_moments(&read);
        // Tensors of no bytes leave no trace in a history.
        let blocks = (0..live.allocations.len()).filter(|idx| live.allocations.block_bytes[*idx] > 0);
        let blocks: Vec<u64> = blocks.map(|idx| live.allocations.block_bytes[idx]).collect();
        assert_eq!(read.allocations.block_bytes, blocks, "{name}: block sizes");
        assert_eq!(read.totals.reserved_peak_bytes, live.totals.reserved_peak_bytes, "{name}");
        assert_eq!(read.totals.allocated_peak_bytes, live.totals.allocated_peak_bytes, "{name}");
        assert_eq!(read.totals.active_bytes, live.totals.active_bytes, "{name}");
        // A history of this allocator has trace ids.
        assert_eq!(read.allocations.trace_ids.len(), read.allocations.len());
    }
}

#[test]
fn out_of_memory_is_the_last_event() {
    let text = "m,start\na,1,67108864,0\na,2,67108864,0\nf,1\na,3,134217728,0\n";
    let options = ReplayOptions { memory_bytes: Some(160 << 20), ..ReplayOptions::default() };
    let recording = of_text(text, &options);
    assert_eq!(recording.n_events(), 5);
    assert_eq!(recording.totals.n_events, 4);
    assert_eq!(recording.events.kind(5), Some(EventKind::OutOfMemory));
    let oom = &recording.ooms[0];
    assert_eq!((oom.event, oom.bytes), (5, 134_217_728));
    assert!(oom.message.starts_with("Neuron out of memory"), "{}", oom.message);
    // Recovery gave the free segment back before it gave up.
    assert_eq!(recording.timeline.reserved_bytes, [0, 0, 64 << 20, 128 << 20, 128 << 20, 64 << 20]);
    assert_eq!(recording.segments[0].death, 5);
    (0..=5).for_each(|event| check_moment(&recording, event));
    assert_eq!((recording.marks[0].kind, &*recording.marks[0].label), (MarkKind::Label, "start"));
}

#[test]
fn a_block_lives_until_its_deallocation_has_run() {
    // Two pieces of work stay outstanding, so the free of 1 waits for the allocation of 3.
    let text = "a,1,1048576,0\nf,1\na,2,1048576,0\na,3,1048576,0\na,4,0,0\nf,4\n";
    let options = ReplayOptions { in_flight: 2, ..ReplayOptions::default() };
    let recording = of_text(text, &options);
    assert_eq!(recording.allocations.deaths, [4, STILL_LIVE, STILL_LIVE, 6]);
    (0..=6).for_each(|event| check_moment(&recording, event));
    let subjects: Vec<_> = (1..=6).map(|event| recording.events.subject(event).unwrap().0).collect();
    assert_eq!(subjects, [0, 0, 1, 2, 3, 3]);
}

#[test]
fn without_stacks_a_site_is_a_phase() {
    let text = "m,step 1\na,1,4096,0\na,2,4096,0\nm,step 2\na,3,4096,7\nm,end\na,4,100,0\n";
    let recording = of_text(text, &ReplayOptions::default());
    let rows = recording.top_sites_at(recording.n_events());
    let rows: Vec<_> =
        rows.iter().map(|row| (recording.sites.phase(row.site).unwrap(), row.block_bytes)).collect();
    assert_eq!(rows, [("step #", 12_288), ("end", 256)]);
    assert_eq!(recording.allocations.streams, [0, 7]);
}
