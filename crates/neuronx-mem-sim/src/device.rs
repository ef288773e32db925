//! One simulated device: who holds which addresses, and how often it was asked. Refuses handles
//! it did not give out and slices outside their segment.

use std::collections::BTreeMap;
use std::ops::Range;

use neuronx_mem_runtime::{MemoryInfo, SegmentAllocation, SegmentHandle, SliceHandle, Status};

use crate::address_space::AddressSpace;

/// Distance between the address spaces of two devices: larger than any real device.
const DEVICE_STRIDE_BYTES: u64 = 1 << 44;

/// What a device was asked so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimulatedCounters {
    /// Segments handed out.
    pub segments_allocated: u64,
    /// Segments given back.
    pub segments_freed: u64,
    /// Segment requests that were refused.
    pub segments_refused: u64,
    /// Slices made.
    pub slices_made: u64,
    /// Slices dropped.
    pub slices_freed: u64,
    /// Bytes held now by the allocator under test.
    pub held_bytes: u64,
    /// Most bytes ever held at once.
    pub held_peak_bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Device {
    space: AddressSpace,
    segments: BTreeMap<SegmentHandle, Segment>,
    slices: BTreeMap<SliceHandle, SegmentHandle>,
    next_handle: u64,
    neighbour_bytes: u64,
    total_bytes: u64,
    counters: SimulatedCounters,
}

#[derive(Debug)]
struct Segment {
    range: Range<u64>,
    bytes: u64,
    n_slices: u64,
    /// Freed by its owner; the memory follows with the last slice.
    is_freed: bool,
}

impl Device {
    pub(crate) fn new(ordinal: u32, total_bytes: u64, neighbour_bytes: u64) -> Self {
        let start = DEVICE_STRIDE_BYTES.saturating_mul(u64::from(ordinal) + 1);
        let mut space = AddressSpace::new(start..start.saturating_add(total_bytes));
        space.take_from_top(neighbour_bytes);
        Self {
            space,
            segments: BTreeMap::new(),
            slices: BTreeMap::new(),
            next_handle: 1,
            neighbour_bytes,
            total_bytes,
            counters: SimulatedCounters::default(),
        }
    }

    pub(crate) fn allocate(&mut self, bytes: u64) -> Result<SegmentAllocation, Status> {
        if bytes == 0 {
            return Err(Status::INVALID);
        }
        let Some(range) = self.space.take(bytes) else {
            self.counters.segments_refused += 1;
            return Err(Status::RESOURCE);
        };
        let handle = SegmentHandle(self.take_handle());
        let address = range.start;
        self.counters.segments_allocated += 1;
        self.counters.held_bytes += bytes;
        self.counters.held_peak_bytes = self.counters.held_peak_bytes.max(self.counters.held_bytes);
        self.segments.insert(handle, Segment { range, bytes, n_slices: 0, is_freed: false });
        Ok(SegmentAllocation { handle, address })
    }

    pub(crate) fn free(&mut self, handle: SegmentHandle) -> Result<(), Status> {
        let segment = self.segments.get_mut(&handle).filter(|s| !s.is_freed).ok_or(Status::INVALID_HANDLE)?;
        segment.is_freed = true;
        self.counters.segments_freed += 1;
        self.reclaim(handle);
        Ok(())
    }

    pub(crate) fn slice(
        &mut self,
        handle: SegmentHandle,
        offset: u64,
        bytes: u64,
    ) -> Result<SliceHandle, Status> {
        let segment = self.segments.get_mut(&handle).filter(|s| !s.is_freed).ok_or(Status::INVALID_HANDLE)?;
        let end = offset.checked_add(bytes).ok_or(Status::INVALID)?;
        if bytes == 0 || end > segment.bytes {
            return Err(Status::INVALID);
        }
        segment.n_slices += 1;
        let slice = SliceHandle(self.take_handle());
        self.slices.insert(slice, handle);
        self.counters.slices_made += 1;
        Ok(slice)
    }

    pub(crate) fn free_slice(&mut self, slice: SliceHandle) -> Result<(), Status> {
        let handle = self.slices.remove(&slice).ok_or(Status::INVALID_HANDLE)?;
        if let Some(segment) = self.segments.get_mut(&handle) {
            segment.n_slices -= 1;
        }
        self.counters.slices_freed += 1;
        self.reclaim(handle);
        Ok(())
    }

    pub(crate) fn memory_info(&self) -> MemoryInfo {
        MemoryInfo {
            used_bytes: self.counters.held_bytes.saturating_add(self.neighbour_bytes),
            limit_bytes: self.total_bytes,
        }
    }

    pub(crate) fn address_range(&self) -> Range<u64> {
        self.space.range()
    }

    pub(crate) fn largest_gap_bytes(&self) -> u64 {
        self.space.largest_gap_bytes()
    }

    pub(crate) fn counters(&self) -> SimulatedCounters {
        self.counters
    }

    /// Returns a freed segment's addresses once nothing views it any more.
    fn reclaim(&mut self, handle: SegmentHandle) {
        let is_done = self.segments.get(&handle).is_some_and(|s| s.is_freed && s.n_slices == 0);
        if !is_done {
            return;
        }
        if let Some(segment) = self.segments.remove(&handle) {
            self.counters.held_bytes -= segment.bytes;
            self.space.give_back(segment.range);
        }
    }

    fn take_handle(&mut self) -> u64 {
        let handle = self.next_handle;
        self.next_handle += 1;
        handle
    }
}
