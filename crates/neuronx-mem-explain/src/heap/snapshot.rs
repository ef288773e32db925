//! A heap from a snapshot. Knows how to find the birth of a block in the history; takes files of
//! PyTorch and of this allocator alike.

use hashbrown::HashMap;
use neuronx_mem::fragmentation::{BlockUse, Pool};
use neuronx_mem_snapshot::{Action, Block, BlockState, PoolId, Segment, Snapshot, StackId, TraceEntry, keys};

use super::{Birth, Heap, HeapBlock, HeapSegment};

/// The last allocation at an address.
#[derive(Clone, Copy)]
struct Allocation {
    birth: Birth,
    stream: Option<u64>,
    stack: Option<StackId>,
}

impl Heap {
    /// The memory that a snapshot shows of one device. `total_bytes` is the device's memory, which a
    /// file does not say. O(blocks + entries).
    ///
    /// Where the last thing that happened was an out-of-memory error, the free memory of the device
    /// is that of the error.
    #[must_use]
    pub fn of_snapshot(snapshot: &Snapshot, device_idx: usize, total_bytes: Option<u64>) -> Self {
        let born = births(snapshot.trace(device_idx));
        let is_here = |segment: &&Segment| usize::try_from(segment.device().unwrap_or(0)) == Ok(device_idx);
        // One pool for all streams is this allocator's rule; PyTorch's has one a stream.
        let is_shared = snapshot.setting(keys::CONFIG_HASH).is_some();
        let mut segments: Vec<HeapSegment> = snapshot
            .segments
            .iter()
            .filter(is_here)
            .map(|segment| heap_segment(segment, is_shared, &born))
            .collect();
        segments.sort_by_key(|segment| segment.address);
        let reserved = segments.iter().fold(0, |sum: u64, segment| sum.saturating_add(segment.bytes));
        let device_free_bytes = total_bytes
            .map(|total| total.saturating_sub(reserved))
            .or_else(|| free_at_the_end(snapshot.trace(device_idx)));
        let table = snapshot.stacks().clone();
        Self { segments, total_bytes, device_free_bytes, address_range: None, table, marks: Vec::new() }
    }
}

fn births(entries: &[TraceEntry]) -> HashMap<u64, Allocation> {
    let last_time = entries.iter().rev().find_map(TraceEntry::time_us);
    let n_entries = entries.len() as u64;
    let mut born = HashMap::new();
    for (event, entry) in (1..).zip(entries) {
        let (Action::Alloc, Some(address)) = (entry.action(), entry.addr()) else { continue };
        let age_us = last_time.zip(entry.time_us()).map(|(last, time)| last.saturating_sub(time));
        let birth = Birth { event, age_events: n_entries - event, age_us };
        born.insert(address, Allocation { birth, stream: entry.stream(), stack: entry.stack() });
    }
    born
}

/// The device's free memory at the last out-of-memory error, when no segment came or went since.
fn free_at_the_end(entries: &[TraceEntry]) -> Option<u64> {
    let is_segment = |entry: &&TraceEntry| {
        matches!(
            entry.action(),
            Action::Oom
                | Action::SegmentAlloc
                | Action::SegmentFree
                | Action::SegmentMap
                | Action::SegmentUnmap
        )
    };
    entries.iter().rev().find(is_segment).and_then(TraceEntry::device_free_bytes)
}

fn heap_segment(segment: &Segment, is_shared: bool, born: &HashMap<u64, Allocation>) -> HeapSegment {
    let address = segment.address().unwrap_or(0);
    let stream = segment.stream().unwrap_or(0);
    let mut next = address;
    let mut blocks = Vec::with_capacity(segment.blocks().len());
    for block in segment.blocks() {
        let bytes = block.size_bytes().unwrap_or(0);
        let at = block.address().unwrap_or(next);
        next = at.saturating_add(bytes);
        blocks.push(heap_block(block, at, bytes, stream, born.get(&at)));
    }
    HeapSegment {
        address,
        bytes: segment.total_bytes().unwrap_or_else(|| next.saturating_sub(address)),
        pool: if segment.is_small() { Pool::Small } else { Pool::Large },
        stream: (!is_shared).then_some(stream),
        is_private: segment.pool().is_some_and(|pool| pool != PoolId::DEFAULT),
        blocks,
    }
}

fn heap_block(
    block: &Block,
    address: u64,
    bytes: u64,
    segment_stream: u64,
    born: Option<&Allocation>,
) -> HeapBlock {
    let state = match block.state() {
        Some(BlockState::ActiveAllocated) => BlockUse::Live,
        Some(BlockState::ActivePendingFree) => BlockUse::PendingFree,
        _ => BlockUse::Free,
    };
    if state == BlockUse::Free {
        let (stream, stack) = (0, StackId::EMPTY);
        return HeapBlock { address, bytes, requested_bytes: 0, state, stream, stack, birth: None };
    }
    let own = block.stack().filter(|stack| *stack != StackId::EMPTY);
    HeapBlock {
        address,
        bytes,
        requested_bytes: block.requested_bytes().unwrap_or(bytes).min(bytes),
        state,
        stream: born.and_then(|born| born.stream).unwrap_or(segment_stream),
        stack: own.or(born.and_then(|born| born.stack)).unwrap_or(StackId::EMPTY),
        birth: born.map(|born| born.birth),
    }
}
