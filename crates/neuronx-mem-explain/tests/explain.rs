//! Explanations of the corpus: heaps that reconcile with the replay and with the files.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod common;

use neuronx_mem::fragmentation::BlockUse;
use neuronx_mem_explain::{
    ExplainError, ExplainOptions, Explanation, Heap, Input, Moment, Run, STILL_LIVE, usual_configs,
};
use neuronx_mem_replay::{Replay, ReplayOptions, TraceReader};
use neuronx_mem_snapshot::{Action, Block, BlockState, Segment, Snapshot, TraceEntry};

const MIB: u64 = 1 << 20;

fn options(change: impl FnOnce(&mut ExplainOptions)) -> ExplainOptions {
    let mut options = ExplainOptions::default();
    change(&mut options);
    options
}

#[test]
fn the_peak_of_a_trace_is_that_of_the_replay() {
    for name in ["gpt2_bf16.csv.zst", "fsdp_llama1b.csv.zst", "varlen_ft.csv.zst"] {
        let input = common::read(&format!("traces/{name}"));
        let report = Replay::default().run(input.trace().events()).unwrap().report;
        let explanation = Explanation::of(&input, &ExplainOptions::default()).unwrap();
        assert!(explanation.is_peak);
        assert_eq!(Some(explanation.event), report.peak_event, "{name}");
        let heap = &explanation.heap;
        let live: u64 = heap.bytes_in(BlockUse::Live) + heap.bytes_in(BlockUse::PendingFree);
        // Extents are at most 63 bytes a block above what counts as allocated.
        let n_blocks = heap.segments.iter().flat_map(|segment| segment.pinning()).count() as u64;
        assert!((report.allocated_peak_bytes..report.allocated_peak_bytes + 64 * n_blocks).contains(&live));
        assert_eq!(heap.reserved_bytes(), live + heap.bytes_in(BlockUse::Free));
        assert_eq!(heap.total_bytes, Some(report.device_total_bytes));
    }
}

#[test]
fn blocks_of_a_trace_are_the_tensors_that_are_live() {
    let input = common::read("traces/gpt2_bf16.jsonl.gz");
    let run = Run::of(&input).unwrap();
    let explanation = Explanation::of(&input, &options(|it| it.moment = Moment::Event(5000))).unwrap();
    let blocks = || explanation.heap.segments.iter().flat_map(|segment| segment.pinning());
    let mut found: Vec<(u64, u64, u64)> =
        blocks().map(|block| (block.birth.unwrap().event, block.requested_bytes, block.stream)).collect();
    found.sort_unstable();
    let expected: Vec<(u64, u64, u64)> =
        run.live_at(5000).map(|life| (life.birth, life.bytes, life.stream)).collect();
    assert_eq!(found, expected);
    for block in blocks() {
        let birth = block.birth.unwrap();
        assert_eq!(birth.event + birth.age_events, 5000);
        let life = run.lives.iter().find(|life| life.birth == birth.event).unwrap();
        assert_eq!(explanation.heap.frames(block), run.sites.frames(life.site));
        assert_eq!(explanation.heap.phase(block), run.phase_at(birth.event));
    }
}

#[test]
fn a_snapshot_is_explained_by_its_own_segments() {
    let names = [
        "annotations",
        "multi_stream",
        "oom",
        "private_pools",
        "small_history",
        "train_transformer",
        "two_snapshots",
    ];
    for name in names {
        let input = common::read(&format!("snapshots/{name}.pickle"));
        let explanation = Explanation::of(&input, &options(|it| it.need_bytes = Some(64 * MIB))).unwrap();
        let snapshot = neuronx_mem_snapshot::Snapshot::read_file(
            common::data(&format!("snapshots/{name}.pickle")),
            &Default::default(),
        )
        .unwrap();
        let sum = |bytes: fn(&neuronx_mem_snapshot::Segment) -> Option<u64>| -> u64 {
            snapshot.segments.iter().filter_map(bytes).sum()
        };
        let heap = &explanation.heap;
        assert_eq!(heap.reserved_bytes(), sum(|segment| segment.total_bytes()), "{name}");
        assert_eq!(heap.bytes_in(BlockUse::Live), sum(|segment| segment.allocated_bytes()), "{name}");
        let active = heap.bytes_in(BlockUse::Live) + heap.bytes_in(BlockUse::PendingFree);
        assert_eq!(active, sum(|segment| segment.active_bytes()), "{name}");
        let blocks = || heap.segments.iter().flat_map(|segment| segment.pinning());
        assert!(blocks().any(|block| !heap.frames(block).is_empty()), "{name}: stacks are kept");
        assert!(blocks().any(|block| block.birth.is_some()), "{name}: ages are known");
        assert!(explanation.request.is_some());
    }
}

#[test]
fn a_snapshot_of_a_replay_is_explained_as_the_trace_is() {
    let input = common::read("traces/gpt2_bf16.csv.zst");
    let replay = Replay::new(ReplayOptions { until: Some(5000), ..ReplayOptions::default() });
    let snapshot = replay.record(input.trace().events()).unwrap().snapshot;
    let from_file = Heap::of_snapshot(&snapshot, 0, None);
    let from_trace = Explanation::of(&input, &options(|it| it.moment = Moment::Event(5000))).unwrap().heap;
    let plain = |heap: &Heap| -> Vec<_> {
        let blocks = |segment: &neuronx_mem_explain::HeapSegment| {
            let block =
                |block: &neuronx_mem_explain::HeapBlock| (block.address, block.requested_bytes, block.stream);
            segment.pinning().map(block).collect::<Vec<_>>()
        };
        heap.segments.iter().map(|segment| (segment.address, segment.bytes, blocks(segment))).collect()
    };
    assert_eq!(plain(&from_file), plain(&from_trace));
}

#[test]
fn out_of_memory_is_explained_where_it_happens() {
    let input = common::read("traces/gpt2_bf16.csv.zst");
    let explanation = Explanation::of(&input, &options(|it| it.replay.memory_bytes = Some(8 << 30))).unwrap();
    let oom = explanation.out_of_memory.as_ref().unwrap();
    assert_eq!(explanation.event + 1, oom.event);
    let request = explanation.request.as_ref().unwrap();
    assert_eq!(request.need.requested_bytes, oom.error.requested_bytes);
    assert!(!request.remedies.after_both, "recovery had tried that");
    let release = request.release.as_ref().unwrap();
    assert!(release.bytes >= 1 && release.bytes == release.bound, "{release:?}");
}

#[test]
fn giving_the_blocks_up_does_serve_the_request() {
    // Free what the explanation names, and ask the allocator itself.
    let input = common::read("traces/gpt2_bf16.csv.zst");
    let memory_bytes = Some(8 << 30);
    let explained = options(|it| it.replay.memory_bytes = memory_bytes);
    let explanation = Explanation::of(&input, &explained).unwrap();
    let request = explanation.request.unwrap();
    let release = request.release.unwrap();
    let births: Vec<u64> = release.blocks.iter().map(|block| block.birth.unwrap().event).collect();
    let replay = Replay::new(ReplayOptions { memory_bytes, ..ReplayOptions::default() });
    let mut handles = Vec::new();
    let outcome = replay.observe(input.trace().events(), |progress| {
        if births.contains(&progress.number) {
            handles.push(progress.handle.unwrap());
        }
    });
    let device = outcome.unwrap().device;
    let stream = device.default_stream();
    assert!(device.allocate(request.need.requested_bytes, &stream).is_err());
    handles.into_iter().for_each(|handle| device.free_handle(handle).unwrap());
    assert!(device.allocate(request.need.requested_bytes, &stream).is_ok());
}

#[test]
fn another_configuration_is_found_where_one_helps() {
    // Two tensors of 9 MiB need a medium segment of 64 MiB; 30 MiB more do not fit beside it.
    let input = common::input("a,1,9437184,0\na,2,9437184,0\n");
    let explanation = Explanation::of(
        &input,
        &options(|it| {
            it.moment = Moment::End;
            it.replay.memory_bytes = Some(90 * MIB);
            it.need_bytes = Some(56 * MIB);
            it.configs = usual_configs();
        }),
    )
    .unwrap();
    let request = explanation.request.unwrap();
    assert!(!request.remedies.after_both);
    let served: Vec<String> = request
        .configs
        .iter()
        .filter(|trial| trial.serves)
        .map(|trial| trial.config.to_env_string())
        .collect();
    assert_eq!(served.first().map(String::as_str), Some("kMediumSegmentSize=33554432"));
}

#[test]
fn waiting_for_a_stream_is_told_apart() {
    let text = "a,1,33554432,0\na,2,33554432,1\nf,2\nf,1\n";
    let explanation = Explanation::of(
        &common::input(text),
        &options(|it| {
            it.moment = Moment::End;
            it.replay.memory_bytes = Some(64 * MIB);
            it.replay.in_flight = 8;
            it.need_bytes = Some(32 * MIB);
        }),
    )
    .unwrap();
    let request = explanation.request.unwrap();
    assert!(!request.remedies.now && request.remedies.after_waiting);
    let streams: Vec<(u64, bool)> =
        request.remedies.streams.iter().map(|waiting| (waiting.stream, waiting.serves)).collect();
    assert_eq!(streams, [(0, true), (1, true)]);
    assert!(request.release.unwrap().waits);
}

#[test]
fn moments_that_are_not_there_are_refused() {
    let input: Input = common::input("a,1,64,0\n");
    let error = Explanation::of(&input, &options(|it| it.moment = Moment::Event(2))).unwrap_err();
    assert_eq!(error.to_string(), "text: event 2 is not reached: there are 1");
    let snapshot = common::read("snapshots/oom.pickle");
    let error = Explanation::of(&snapshot, &options(|it| it.moment = Moment::Peak)).unwrap_err();
    assert!(matches!(error, ExplainError::MomentOfSnapshot { .. }));
}

#[test]
fn lives_end_where_the_trace_frees() {
    let run = common::run("a,7,64,0\na,8,0,1\nf,7\n");
    let lives: Vec<(u64, u64, u64)> =
        run.lives.iter().map(|life| (life.bytes, life.birth, life.death)).collect();
    assert_eq!(lives, [(64, 1, 3), (0, 2, STILL_LIVE)]);
}

#[test]
fn a_snapshot_that_ends_in_out_of_memory_asks_for_what_failed() {
    let mut snapshot = Snapshot::new();
    let blocks = vec![Block::new(0x10_0000, 32 * MIB, BlockState::ActiveAllocated)];
    snapshot.segments.push(Segment::from_blocks(0, 0x10_0000, false, blocks));
    let alloc = TraceEntry::new(Action::Alloc).with_addr(0x10_0000).with_size_bytes(32 * MIB);
    snapshot.push_entry(0, alloc);
    let oom = TraceEntry::new(Action::Oom).with_size_bytes(30 * MIB).with_device_free_bytes(4 * MIB);
    snapshot.push_entry(0, oom);
    let input = Input::from_snapshot(Box::new(snapshot.clone()), None, "made").unwrap();
    let explanation = Explanation::of(&input, &ExplainOptions::default()).unwrap();
    assert_eq!(explanation.heap.device_free_bytes, Some(4 * MIB));
    let request = explanation.request.unwrap();
    assert_eq!(request.need.requested_bytes, 30 * MIB);
    assert_eq!(request.release.unwrap().bytes, 32 * MIB);
    // Something came after the failure: it is no longer the question.
    snapshot.push_entry(0, alloc.with_addr(0x10));
    let input = Input::from_snapshot(Box::new(snapshot), None, "made").unwrap();
    assert!(Explanation::of(&input, &ExplainOptions::default()).unwrap().request.is_none());
}

#[test]
fn lines_that_were_left_out_are_counted() {
    let events = TraceReader::new("a,1,64,0\nwhat\nf,2\n".as_bytes(), "lenient").lenient(true);
    let input = Input::from_events(events).unwrap();
    assert_eq!(Run::of(&input).unwrap().n_skipped, 2);
    assert_eq!(Explanation::of(&input, &ExplainOptions::default()).unwrap().n_skipped, 2);
    let strict = common::input("a,1,64,0\nf,2\n");
    assert_eq!(Run::of(&strict).unwrap_err().to_string(), "text: line 2: id 2 is freed but not live");
}
