//! The object of `explain --json`.

use neuronx_mem::fragmentation::BlockUse;
use neuronx_mem_explain::{
    Explanation, Heap, HeapBlock, HeapSegment, Input, Least, Release, Request, ServedBy,
};
use serde::Serialize;

use crate::failure::Failure;
use crate::json;
use crate::site::{JsonFrame, json_frames};

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    input: &'a str,
    /// Events up to the moment.
    event: u64,
    events: u64,
    oom: bool,
    /// `null` when nobody said how large the device is.
    device_total: Option<u64>,
    reserved: u64,
    allocated: u64,
    pending: u64,
    cached_free: u64,
    /// What `empty_cache` would give back.
    releasable: u64,
    segments: Vec<Segment>,
    need: Option<u64>,
    /// The blocks to give up; `null` when nothing would help, or nothing was asked for.
    release: Option<Vec<Block>>,
    release_bytes: Option<u64>,
    /// No set is smaller; equal to what was asked to be least when the set is proved smallest.
    release_bound: Option<u64>,
    release_waits: Option<bool>,
    request: Option<Ask>,
}

#[derive(Serialize)]
struct Segment {
    address: u64,
    size: u64,
    pool: &'static str,
    stream: Option<u64>,
    live_bytes: u64,
    free_bytes: u64,
    blocks: Vec<Block>,
}

#[derive(Serialize)]
struct Block {
    address: u64,
    size: u64,
    requested: u64,
    state: &'static str,
    /// `null` when the block is older than the history.
    age_events: Option<u64>,
    age_us: Option<u64>,
    stream: u64,
    /// The mark of a trace before it; empty without one.
    phase: String,
    stack: Vec<JsonFrame>,
}

#[derive(Serialize)]
struct Ask {
    block: u64,
    segment: u64,
    pool: &'static str,
    stream: u64,
    largest_free: u64,
    now: bool,
    after_waiting: bool,
    after_empty_cache: bool,
    after_waiting_and_empty_cache: bool,
    empty_cache_bytes: u64,
    streams: Vec<Wait>,
    configs: Vec<Trial>,
    /// `cached_block` or `new_segment`.
    release_serves_by: Option<&'static str>,
    least: &'static str,
}

#[derive(Serialize)]
struct Wait {
    stream: u64,
    pending: u64,
    serves: bool,
}

#[derive(Serialize)]
struct Trial {
    config: String,
    serves: bool,
    reserved: u64,
}

pub(super) fn line(input: &Input, explanation: &Explanation, least: Least) -> Result<String, Failure> {
    let heap = &explanation.heap;
    let request = explanation.request.as_ref();
    let release = request.and_then(|request| request.release.as_ref());
    let blocks = |release: &Release| release.blocks.iter().map(|block| Block::of(heap, block)).collect();
    json::line(&Object {
        schema: json::SCHEMA,
        input: input.name(),
        event: explanation.event,
        events: explanation.n_events,
        oom: explanation.out_of_memory.is_some(),
        device_total: heap.total_bytes,
        reserved: heap.reserved_bytes(),
        allocated: heap.bytes_in(BlockUse::Live).saturating_add(heap.bytes_in(BlockUse::PendingFree)),
        pending: heap.bytes_in(BlockUse::PendingFree),
        cached_free: heap.bytes_in(BlockUse::Free),
        releasable: heap.releasable_bytes(),
        segments: heap.segments.iter().map(|segment| Segment::of(heap, segment)).collect(),
        need: request.map(|request| request.need.requested_bytes),
        release: release.map(blocks),
        release_bytes: release.map(|release| release.bytes),
        release_bound: release.map(|release| release.bound),
        release_waits: release.map(|release| release.waits),
        request: request.map(|request| Ask::of(request, least)),
    })
}

impl Segment {
    fn of(heap: &Heap, segment: &HeapSegment) -> Self {
        Self {
            address: segment.address,
            size: segment.bytes,
            pool: segment.pool.name(),
            stream: segment.stream,
            live_bytes: segment.live_bytes(),
            free_bytes: segment.free_bytes(),
            blocks: segment.pinning().map(|block| Block::of(heap, block)).collect(),
        }
    }
}

impl Block {
    fn of(heap: &Heap, block: &HeapBlock) -> Self {
        Self {
            address: block.address,
            size: block.bytes,
            requested: block.requested_bytes,
            state: block.state.name(),
            age_events: block.birth.map(|birth| birth.age_events),
            age_us: block.birth.and_then(|birth| birth.age_us),
            stream: block.stream,
            phase: heap.phase(block).to_owned(),
            stack: json_frames(heap.frames(block)),
        }
    }
}

impl Ask {
    fn of(request: &Request, least: Least) -> Self {
        let Request { need, remedies, .. } = request;
        let waits = remedies.streams.iter().map(|waiting| Wait {
            stream: waiting.stream,
            pending: waiting.pending_bytes,
            serves: waiting.serves,
        });
        let trials = request.configs.iter().map(|trial| Trial {
            config: trial.config.to_env_string(),
            serves: trial.serves,
            reserved: trial.reserved_bytes,
        });
        Self {
            block: need.block_bytes,
            segment: need.segment_bytes,
            pool: need.pool.name(),
            stream: need.stream,
            largest_free: remedies.largest_free_bytes,
            now: remedies.now,
            after_waiting: remedies.after_waiting,
            after_empty_cache: remedies.after_empty_cache,
            after_waiting_and_empty_cache: remedies.after_both,
            empty_cache_bytes: remedies.empty_cache_bytes,
            streams: waits.collect(),
            configs: trials.collect(),
            release_serves_by: request.release.as_ref().map(|release| match release.serves_by {
                ServedBy::CachedBlock { .. } => "cached_block",
                _ => "new_segment",
            }),
            least: match least {
                Least::Blocks => "blocks",
                _ => "bytes",
            },
        }
    }
}
