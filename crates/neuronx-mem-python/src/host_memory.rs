//! Device memory with host memory behind it: device addresses are host pointers, so that a program on
//! the CPU can work on them where they are.
//!
//! Knows one region of addresses a device, and which part of it a segment is. Decides nothing: which
//! addresses a segment gets, and when memory runs out, is the simulated runtime's business. A region
//! costs no memory until it is written to, and what was written comes back when its segment is freed.

use std::collections::BTreeMap;
use std::ops::Range;

use neuronx_mem::runtime::{
    MemoryInfo, Operation, RuntimeError, SegmentAllocation, SegmentHandle, SliceHandle, Status,
};
use neuronx_mem::sim::SimulatedRuntime;
use neuronx_mem::{DeviceId, DeviceRuntime};
use parking_lot::Mutex;

use crate::region::Region;

/// A simulated runtime whose addresses can be read and written.
#[derive(Debug)]
pub(crate) struct HostMemory {
    simulated: SimulatedRuntime,
    regions: Vec<Region>,
    /// Addresses of the segments that are held.
    segments: Mutex<BTreeMap<(DeviceId, SegmentHandle), Range<u64>>>,
}

impl HostMemory {
    /// Reserves a region a device, and starts the runtime in them.
    ///
    /// # Errors
    ///
    /// Of the system, where it has no addresses left.
    pub(crate) fn start(
        builder: neuronx_mem::sim::SimulatedRuntimeBuilder,
    ) -> Result<Self, rustix::io::Errno> {
        let bytes = builder.total_bytes();
        let regions: Vec<Region> =
            (0..builder.n_devices()).map(|_| Region::reserve(bytes)).collect::<Result<_, _>>()?;
        let simulated = builder.first_addresses(regions.iter().map(Region::first_address)).build();
        Ok(Self { simulated, regions, segments: Mutex::default() })
    }

    fn region(&self, device: DeviceId) -> Option<&Region> {
        self.regions.get(usize::try_from(device.0).ok()?)
    }

    /// The region and the address of a range of a segment that is held. The segment stays held while
    /// `touch` runs.
    fn touch<T>(
        &self,
        operation: Operation,
        device: DeviceId,
        place: (SegmentHandle, u64, u64),
        touch: impl FnOnce(&Region, u64) -> T,
    ) -> Result<T, RuntimeError> {
        let (segment, offset_bytes, bytes) = place;
        let failed = |status| RuntimeError::new(operation, device, status, bytes);
        let region = self.region(device).ok_or(failed(Status::INVALID))?;
        let segments = self.segments.lock();
        let range = segments.get(&(device, segment)).ok_or(failed(Status::INVALID_HANDLE))?;
        let end = offset_bytes.checked_add(bytes).and_then(|end| range.start.checked_add(end));
        if end.is_none_or(|end| end > range.end) {
            return Err(failed(Status::INVALID));
        }
        Ok(touch(region, range.start + offset_bytes))
    }
}

impl DeviceRuntime for HostMemory {
    fn n_devices(&self) -> u32 {
        self.simulated.n_devices()
    }

    fn allocate_segment(&self, device: DeviceId, bytes: u64) -> Result<SegmentAllocation, RuntimeError> {
        let segment = self.simulated.allocate_segment(device, bytes)?;
        let range = segment.address..segment.address + bytes;
        // A device that hands out segments has a region.
        let is_there = self.region(device).is_some_and(|region| region.commit(&range));
        if !is_there {
            self.simulated.free_segment(device, segment.handle)?;
            let (operation, status) = (Operation::AllocateSegment, Status::FAIL_HOST_MEM_ALLOC);
            return Err(RuntimeError::new(operation, device, status, bytes));
        }
        self.segments.lock().insert((device, segment.handle), range);
        Ok(segment)
    }

    fn free_segment(&self, device: DeviceId, segment: SegmentHandle) -> Result<(), RuntimeError> {
        // Before the runtime may hand the addresses out again.
        let range = self.segments.lock().remove(&(device, segment));
        if let (Some(range), Some(region)) = (range, self.region(device)) {
            region.give_back(&range);
        }
        self.simulated.free_segment(device, segment)
    }

    fn slice(
        &self,
        device: DeviceId,
        segment: SegmentHandle,
        offset_bytes: u64,
        bytes: u64,
    ) -> Result<SliceHandle, RuntimeError> {
        self.simulated.slice(device, segment, offset_bytes, bytes)
    }

    fn free_slice(&self, device: DeviceId, slice: SliceHandle) -> Result<(), RuntimeError> {
        self.simulated.free_slice(device, slice)
    }

    fn memory_info(&self, device: DeviceId) -> Result<MemoryInfo, RuntimeError> {
        self.simulated.memory_info(device)
    }

    fn address_range(&self, device: DeviceId) -> Option<Range<u64>> {
        self.simulated.address_range(device)
    }

    fn has_memory_access(&self) -> bool {
        true
    }

    fn write_memory(
        &self,
        device: DeviceId,
        segment: SegmentHandle,
        offset_bytes: u64,
        data: &[u8],
    ) -> Result<(), RuntimeError> {
        let place = (segment, offset_bytes, data.len() as u64);
        self.touch(Operation::WriteMemory, device, place, |region, address| region.write(address, data))
    }

    fn read_memory(
        &self,
        device: DeviceId,
        segment: SegmentHandle,
        offset_bytes: u64,
        into: &mut [u8],
    ) -> Result<(), RuntimeError> {
        let place = (segment, offset_bytes, into.len() as u64);
        self.touch(Operation::ReadMemory, device, place, |region, address| region.read(address, into))
    }
}
