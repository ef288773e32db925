//! What the segments of a snapshot say about one device: the blocks in use when it was taken. Does
//! not look at the events.

use std::collections::BTreeMap;

use neuronx_mem_snapshot::{BlockState, Segment, Snapshot, StackId};

/// A block in use, or waiting for its deallocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ActiveBlock {
    pub(super) address: u64,
    /// Freed by its owner and waiting for its deallocation.
    pub(super) is_pending: bool,
    /// `None` in old files.
    pub(super) requested_bytes: Option<u64>,
    /// Its size where the request is not known.
    pub(super) bytes: u64,
    /// The stream of its segment.
    pub(super) stream: u64,
    pub(super) stack: Option<StackId>,
}

/// The memory of one device at the moment of the snapshot.
#[derive(Clone, Debug, Default)]
pub(super) struct FinalState {
    active: BTreeMap<u64, ActiveBlock>,
    /// Start and end of each segment.
    ranges: Vec<(u64, u64)>,
    pub(super) reserved_bytes: u64,
}

impl FinalState {
    pub(super) fn of(snapshot: &Snapshot, device_idx: usize) -> Self {
        let mut state = Self::default();
        for segment in snapshot.segments.iter().filter(|segment| device_of(segment) == Some(device_idx)) {
            state.add(segment);
        }
        state.ranges.sort_unstable();
        state
    }

    /// The blocks in use, in the order of their addresses.
    pub(super) fn active(&self) -> impl Iterator<Item = &ActiveBlock> {
        self.active.values()
    }

    pub(super) fn at(&self, address: u64) -> Option<&ActiveBlock> {
        self.active.get(&address)
    }

    /// Whether the snapshot lists the segment that holds an address.
    pub(super) fn covers(&self, address: u64) -> bool {
        let n_before = self.ranges.partition_point(|(start, _)| *start <= address);
        n_before.checked_sub(1).is_some_and(|idx| address < self.ranges[idx].1)
    }

    fn add(&mut self, segment: &Segment) {
        let start = segment.address().unwrap_or(0);
        let mut next = start;
        for block in segment.blocks() {
            let bytes = block.size_bytes().unwrap_or(0);
            let address = block.address().unwrap_or(next);
            next = address.saturating_add(bytes);
            if block.is_active() {
                let requested_bytes = block.requested_bytes();
                let (stream, stack) = (segment.stream().unwrap_or(0), block.stack());
                let is_pending = block.state() == Some(BlockState::ActivePendingFree);
                let active = ActiveBlock { address, is_pending, requested_bytes, bytes, stream, stack };
                self.active.insert(address, active);
            }
        }
        let total_bytes = segment.total_bytes().unwrap_or_else(|| next.saturating_sub(start));
        self.ranges.push((start, start.saturating_add(total_bytes)));
        self.reserved_bytes = self.reserved_bytes.saturating_add(total_bytes);
    }
}

impl ActiveBlock {
    /// What was asked for, or the size where that is not known.
    pub(super) fn bytes(&self) -> u64 {
        self.requested_bytes.unwrap_or(self.bytes)
    }
}

/// The device of a segment; files too old to say had one.
pub(super) fn device_of(segment: &Segment) -> Option<usize> {
    usize::try_from(segment.device().unwrap_or(0)).ok()
}
