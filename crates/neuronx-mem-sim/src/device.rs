//! One simulated device: who holds which addresses, and how often it was asked. Refuses handles
//! it did not give out and slices outside their segment; what goes wrong on purpose is next door.

use std::collections::BTreeMap;
use std::ops::Range;

use neuronx_mem_runtime::{
    DeviceId, MemoryInfo, Operation, SegmentAllocation, SegmentHandle, SliceHandle, Status,
};

use crate::address_space::{ALIGNMENT_BYTES, AddressSpace};
use crate::faults::{Injector, Lifecycle, Moment};
use crate::memory::Memory;
use crate::{FaultCounters, FaultPlan, ModelHandle};

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
    /// Segment requests that were refused for want of a gap.
    pub segments_refused: u64,
    /// Slices made.
    pub slices_made: u64,
    /// Slices dropped.
    pub slices_freed: u64,
    /// Bytes held now by the allocator under test, those that are slow to come back included.
    pub held_bytes: u64,
    /// Most bytes ever held at once.
    pub held_peak_bytes: u64,
    /// What faults did.
    pub faults: FaultCounters,
}

#[derive(Debug)]
pub(crate) struct Device {
    space: AddressSpace,
    pub(crate) memory: Memory,
    segments: BTreeMap<SegmentHandle, Segment>,
    slices: BTreeMap<SliceHandle, SegmentHandle>,
    next_handle: u64,
    neighbour_bytes: u64,
    total_bytes: u64,
    counters: SimulatedCounters,
    lifecycle: Lifecycle,
    injector: Injector,
    moment: Moment,
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
    pub(crate) fn new(
        device: DeviceId,
        first_address: Option<u64>,
        total_bytes: u64,
        neighbour_bytes: u64,
        plan: &FaultPlan,
    ) -> Self {
        let own_space = || DEVICE_STRIDE_BYTES.saturating_mul(u64::from(device.0) + 1);
        let aligned = |address: u64| address.max(1).checked_next_multiple_of(ALIGNMENT_BYTES);
        let start = first_address.and_then(aligned).unwrap_or_else(own_space);
        let mut space = AddressSpace::new(start..start.saturating_add(total_bytes));
        space.take_from_top(neighbour_bytes);
        let injector = Injector::new(plan, device, &mut space);
        Self {
            space,
            memory: Memory::default(),
            segments: BTreeMap::new(),
            slices: BTreeMap::new(),
            next_handle: 1,
            neighbour_bytes,
            total_bytes,
            counters: SimulatedCounters::default(),
            lifecycle: if plan.starts_uninitialized() { Lifecycle::Uninitialized } else { Lifecycle::Open },
            injector,
            moment: Moment::default(),
        }
    }

    /// Starts a call of the trait: faults strike, and it may fail before it does anything.
    pub(crate) fn begin(&mut self, operation: Operation, bytes: u64, now_ns: u64) -> Result<(), Status> {
        self.arrive(now_ns)?;
        self.injector.refusal(operation, bytes).map_or(Ok(()), Err)
    }

    pub(crate) fn allocate(&mut self, bytes: u64) -> Result<SegmentAllocation, Status> {
        if bytes == 0 {
            return Err(Status::INVALID);
        }
        let start = self.injector.search_start(&self.space);
        let Some(range) = self.space.take_from(start, bytes) else {
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
        let others = self.neighbour_bytes.saturating_add(self.injector.foreign_bytes());
        MemoryInfo {
            used_bytes: self.counters.held_bytes.saturating_add(others),
            limit_bytes: self.total_bytes,
        }
    }

    pub(crate) fn load_model(&mut self, bytes: u64, now_ns: u64) -> Result<ModelHandle, Status> {
        self.arrive(now_ns)?;
        if bytes == 0 {
            return Err(Status::INVALID);
        }
        let Injector { growth, counters, .. } = &mut self.injector;
        growth.load(bytes, &mut self.space, counters).ok_or(Status::RESOURCE)
    }

    /// False for a model that is not loaded.
    pub(crate) fn unload_model(&mut self, model: ModelHandle) -> bool {
        let Injector { growth, counters, .. } = &mut self.injector;
        growth.unload(model, &mut self.space, counters)
    }

    /// False when it was closed before.
    pub(crate) fn initialize(&mut self) -> bool {
        if self.lifecycle == Lifecycle::Uninitialized {
            self.lifecycle = Lifecycle::Open;
        }
        self.lifecycle == Lifecycle::Open
    }

    /// Takes everything back that the process had, as the runtime's end does.
    pub(crate) fn close(&mut self) {
        self.lifecycle = Lifecycle::Closed;
        self.slices.clear();
        while let Some((_, segment)) = self.segments.pop_first() {
            self.injector.counters.segments_closed += u64::from(!segment.is_freed);
            self.take_back(segment.range, segment.bytes);
        }
        self.settle();
        let Injector { growth, counters, .. } = &mut self.injector;
        growth.unload_all(&mut self.space, counters);
        growth.stop(&mut self.space, counters);
    }

    /// Lets all slow frees come back now.
    pub(crate) fn settle(&mut self) {
        while let Some(slow) = self.injector.slow_frees.pop() {
            self.injector.counters.slow_bytes -= slow.bytes;
            self.take_back(slow.range, slow.bytes);
        }
    }

    /// Ends all faults; segments and models stay as they are.
    pub(crate) fn stop_faults(&mut self) {
        self.settle();
        self.injector.stop(&mut self.space);
    }

    pub(crate) fn address_range(&self) -> Range<u64> {
        self.space.range()
    }

    pub(crate) fn largest_gap_bytes(&self) -> u64 {
        self.space.largest_gap_bytes()
    }

    pub(crate) fn free_bytes(&self) -> u64 {
        self.space.free_bytes()
    }

    pub(crate) fn counters(&self) -> SimulatedCounters {
        SimulatedCounters { faults: self.injector.counters, ..self.counters }
    }

    /// The address of a range of a segment, to read or write there. Debugging must not change which
    /// faults strike, so this counts as no call.
    pub(crate) fn address_of(&self, handle: SegmentHandle, offset: u64, bytes: u64) -> Result<u64, Status> {
        self.lifecycle.refusal().map_or(Ok(()), Err)?;
        let segment = self.segments.get(&handle).filter(|s| !s.is_freed).ok_or(Status::INVALID_HANDLE)?;
        let end = offset.checked_add(bytes).filter(|end| *end <= segment.bytes).ok_or(Status::INVALID)?;
        Ok(segment.range.start + (end - bytes))
    }

    /// Whether a range lies in one segment that is held. O(segments).
    pub(crate) fn is_held(&self, address: u64, bytes: u64) -> bool {
        let holds = |s: &Segment| {
            address >= s.range.start
                && address.checked_add(bytes).is_some_and(|e| e <= s.range.start + s.bytes)
        };
        self.segments.values().any(holds)
    }

    /// Counts a call and lets memory come and go before it, if the runtime is open at all.
    fn arrive(&mut self, now_ns: u64) -> Result<(), Status> {
        if let Some(status) = self.lifecycle.refusal() {
            self.injector.counters.calls_refused_by_state += 1;
            return Err(status);
        }
        self.moment = Moment { call: self.moment.call + 1, now_ns };
        while let Some(slow) = self.injector.slow_frees.pop_due(self.moment) {
            self.injector.counters.slow_bytes -= slow.bytes;
            self.take_back(slow.range, slow.bytes);
        }
        self.injector.tick(self.moment, &mut self.space);
        Ok(())
    }

    /// Returns a freed segment's addresses once nothing views it any more, or lets them follow.
    fn reclaim(&mut self, handle: SegmentHandle) {
        let is_done = self.segments.get(&handle).is_some_and(|s| s.is_freed && s.n_slices == 0);
        if !is_done {
            return;
        }
        let Some(segment) = self.segments.remove(&handle) else { return };
        if !self.injector.slow_frees.is_on() {
            return self.take_back(segment.range, segment.bytes);
        }
        self.injector.counters.slow_frees += 1;
        self.injector.counters.slow_bytes += segment.bytes;
        self.injector.slow_frees.push(self.moment, segment.range, segment.bytes);
    }

    fn take_back(&mut self, range: Range<u64>, bytes: u64) {
        self.counters.held_bytes -= bytes;
        self.memory.clear(range.start, bytes);
        self.space.give_back(range);
    }

    fn take_handle(&mut self) -> u64 {
        let handle = self.next_handle;
        self.next_handle += 1;
        handle
    }
}
