//! Checks the promises of the schema. Knows all sums; refuses to check what old files lack.

use std::collections::BTreeMap;

use super::Problem;
use crate::model::{Block, BlockState, Segment, Snapshot};

impl Snapshot {
    /// Everything that is wrong with the segments, in file order; empty for a sound snapshot.
    ///
    /// Checks that block sizes tile each segment, that addresses are running sums, that the three
    /// sums of a segment hold (PyTorch snapshot schema §3), that segments of a device ascend
    /// without overlap, and that each device has a trace list. Keys that old files lack are
    /// skipped. Cost: O(blocks).
    #[must_use]
    pub fn verify(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (segment_idx, segment) in self.segments.iter().enumerate() {
            let place = Place { is_host: false, segment_idx };
            self.check_segment(place, segment, &mut problems);
            self.check_device(place, segment, &mut problems);
        }
        for (segment_idx, segment) in self.host_segments.iter().flatten().enumerate() {
            let place = Place { is_host: true, segment_idx };
            self.check_segment(place, segment, &mut problems);
            self.check_device(place, segment, &mut problems);
        }
        check_order(&self.segments, &mut problems);
        problems
    }

    fn check_segment(&self, place: Place, segment: &Segment, problems: &mut Vec<Problem>) {
        let Place { is_host, segment_idx } = place;
        let mut missing = |key| problems.push(Problem::MissingSegmentKey { is_host, segment_idx, key });
        let Some(address) = segment.address() else { return missing("address") };
        let Some(total_bytes) = segment.total_bytes() else { return missing("total_size") };
        let mut sums = Sums::default();
        for (block_idx, block) in segment.blocks().iter().enumerate() {
            self.check_block(place, block_idx, block, problems);
            let expected = u128::from(address) + sums.total;
            if let Some(found) = block.address()
                && u128::from(found) != expected
            {
                let expected = u64::try_from(expected).unwrap_or(u64::MAX);
                problems.push(Problem::BlockAddress { is_host, segment_idx, block_idx, expected, found });
            }
            sums.add(block);
        }
        let mut check = |key, expected_bytes: u128, found: Option<u64>| {
            if let Some(found_bytes) = found.filter(|&found| u128::from(found) != expected_bytes) {
                problems.push(Problem::Sum { is_host, segment_idx, key, expected_bytes, found_bytes });
            }
        };
        check("total_size", sums.total, Some(total_bytes));
        check("allocated_size", sums.allocated, segment.allocated_bytes());
        check("active_size", sums.active, segment.active_bytes());
        // The host allocator reports the whole segment as requested (§8).
        if !is_host {
            check("requested_size", sums.requested, segment.requested_bytes());
        }
    }

    fn check_block(&self, place: Place, block_idx: usize, block: &Block, problems: &mut Vec<Problem>) {
        let Place { is_host, segment_idx } = place;
        if block.size_bytes().is_none() {
            problems.push(Problem::MissingBlockKey { is_host, segment_idx, block_idx, key: "size" });
        }
        match block.state() {
            None => problems.push(Problem::MissingBlockKey { is_host, segment_idx, block_idx, key: "state" }),
            Some(BlockState::Other(id)) => {
                let state = self.stacks().text(id).to_owned();
                problems.push(Problem::UnknownState { is_host, segment_idx, block_idx, state });
            }
            Some(_) => {}
        }
    }

    fn check_device(&self, place: Place, segment: &Segment, problems: &mut Vec<Problem>) {
        let Place { is_host, segment_idx } = place;
        let (Some(device), Some(traces)) = (segment.device(), &self.device_traces) else { return };
        let n_devices = traces.len();
        let is_known = usize::try_from(device).is_ok_and(|device| device < n_devices);
        if (is_host && device != -1) || (!is_host && !is_known) {
            problems.push(Problem::Device { is_host, segment_idx, device, n_devices });
        }
    }
}

#[derive(Clone, Copy)]
struct Place {
    is_host: bool,
    segment_idx: usize,
}

/// Sums over blocks, wide enough for any file.
#[derive(Default)]
struct Sums {
    total: u128,
    allocated: u128,
    active: u128,
    requested: u128,
}

impl Sums {
    fn add(&mut self, block: &Block) {
        let bytes = u128::from(block.size_bytes().unwrap_or(0));
        self.total += bytes;
        if block.state() == Some(BlockState::ActiveAllocated) {
            self.allocated += bytes;
        }
        if block.is_active() {
            self.active += bytes;
            self.requested += u128::from(block.requested_bytes().unwrap_or(0));
        }
    }
}

fn check_order(segments: &[Segment], problems: &mut Vec<Problem>) {
    let mut ends: BTreeMap<Option<i64>, u64> = BTreeMap::new();
    for (segment_idx, segment) in segments.iter().enumerate() {
        let (Some(address), Some(total_bytes)) = (segment.address(), segment.total_bytes()) else { continue };
        let end = ends.entry(segment.device()).or_default();
        if address < *end {
            problems.push(Problem::SegmentOrder { segment_idx, address, previous_end: *end });
        }
        *end = address.saturating_add(total_bytes).max(*end);
    }
}
