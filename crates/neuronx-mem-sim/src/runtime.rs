//! The simulated devices behind the runtime trait. Each device has its own lock; nothing here
//! decides anything.

use std::ops::Range;

use neuronx_mem_runtime::{
    DeviceId, DeviceRuntime, MemoryInfo, Operation, RuntimeError, SegmentAllocation, SegmentHandle,
    SliceHandle, Status,
};
use parking_lot::Mutex;

use crate::device::Device;
use crate::{CostModel, SimulatedCounters, SimulatedRuntimeBuilder, VirtualClock};

/// Devices that hand out addresses without memory behind them.
///
/// Thread-safe; the addresses depend on the order of the calls and on nothing else.
#[derive(Debug)]
pub struct SimulatedRuntime {
    devices: Vec<Mutex<Device>>,
    cost: CostModel,
    clock: VirtualClock,
}

impl SimulatedRuntime {
    /// Starts the settings of a runtime: one trn2 logical core unless told otherwise.
    #[must_use]
    pub fn builder() -> SimulatedRuntimeBuilder {
        SimulatedRuntimeBuilder::new()
    }

    pub(crate) fn from_parts(devices: Vec<Device>, cost: CostModel, clock: VirtualClock) -> Self {
        Self { devices: devices.into_iter().map(Mutex::new).collect(), cost, clock }
    }

    /// What `device` was asked so far; all zero for a device that does not exist.
    #[must_use]
    pub fn counters(&self, device: DeviceId) -> SimulatedCounters {
        self.device(device).map(|d| d.lock().counters()).unwrap_or_default()
    }

    /// The largest segment that `device` could hand out now, bytes. O(gaps).
    #[must_use]
    pub fn largest_gap_bytes(&self, device: DeviceId) -> u64 {
        self.device(device).map_or(0, |d| d.lock().largest_gap_bytes())
    }

    /// The clock that runtime calls move.
    #[must_use]
    pub fn clock(&self) -> &VirtualClock {
        &self.clock
    }

    fn device(&self, device: DeviceId) -> Option<&Mutex<Device>> {
        self.devices.get(usize::try_from(device.0).ok()?)
    }

    fn call<T>(
        &self,
        device: DeviceId,
        operation: Operation,
        bytes: u64,
        cost_ns: u64,
        body: impl FnOnce(&mut Device) -> Result<T, Status>,
    ) -> Result<T, RuntimeError> {
        self.clock.advance_ns(cost_ns);
        let slot = self.device(device).ok_or(RuntimeError::new(operation, device, Status::INVALID, bytes))?;
        body(&mut slot.lock()).map_err(|status| RuntimeError::new(operation, device, status, bytes))
    }
}

impl Default for SimulatedRuntime {
    fn default() -> Self {
        Self::builder().build()
    }
}

impl DeviceRuntime for SimulatedRuntime {
    fn n_devices(&self) -> u32 {
        u32::try_from(self.devices.len()).unwrap_or(u32::MAX)
    }

    fn allocate_segment(&self, device: DeviceId, bytes: u64) -> Result<SegmentAllocation, RuntimeError> {
        let cost_ns = self.cost.allocate(bytes);
        self.call(device, Operation::AllocateSegment, bytes, cost_ns, |d| d.allocate(bytes))
    }

    fn free_segment(&self, device: DeviceId, segment: SegmentHandle) -> Result<(), RuntimeError> {
        self.call(device, Operation::FreeSegment, 0, self.cost.free_ns, |d| d.free(segment))
    }

    fn slice(
        &self,
        device: DeviceId,
        segment: SegmentHandle,
        offset_bytes: u64,
        bytes: u64,
    ) -> Result<SliceHandle, RuntimeError> {
        self.call(device, Operation::Slice, bytes, self.cost.slice_ns, |d| {
            d.slice(segment, offset_bytes, bytes)
        })
    }

    fn free_slice(&self, device: DeviceId, slice: SliceHandle) -> Result<(), RuntimeError> {
        self.call(device, Operation::FreeSlice, 0, self.cost.slice_ns, |d| d.free_slice(slice))
    }

    fn memory_info(&self, device: DeviceId) -> Result<MemoryInfo, RuntimeError> {
        self.call(device, Operation::MemoryInfo, 0, 0, |d| Ok(d.memory_info()))
    }

    fn address_range(&self, device: DeviceId) -> Option<Range<u64>> {
        self.device(device).map(|d| d.lock().address_range())
    }
}
