//! The simulated devices behind the runtime trait. Each device has its own lock; nothing here
//! decides anything.

use std::ops::Range;

use neuronx_mem_runtime::{
    DeviceId, DeviceRuntime, MemoryInfo, Operation, RuntimeError, SegmentAllocation, SegmentHandle,
    SliceHandle, Status,
};
use parking_lot::Mutex;

use crate::device::Device;
use crate::memory::Memory;
use crate::{
    CostModel, ModelHandle, SimulatedCounters, SimulatedRuntimeBuilder, SimulatorError, VirtualClock,
};

/// Devices that hand out addresses, with as much memory behind them as was written.
///
/// Thread-safe; the addresses depend on the order of the calls, on the plan of faults and on
/// nothing else.
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

    /// Bytes of `device` that nobody holds, in whatever pieces. O(gaps).
    #[must_use]
    pub fn free_bytes(&self, device: DeviceId) -> u64 {
        self.device(device).map_or(0, |d| d.lock().free_bytes())
    }

    /// Loads a model of `bytes` beside the allocator's memory, as the runtime does for a compiled
    /// program or a collective.
    ///
    /// Counts as one runtime call that takes no time. The model lies in one piece, in the
    /// highest gap that holds it: free memory that an allocator keeps cached is no gap.
    ///
    /// ```
    /// use neuronx_mem_runtime::{DeviceId, DeviceRuntime};
    /// use neuronx_mem_sim::SimulatedRuntime;
    ///
    /// let runtime = SimulatedRuntime::builder().memory_bytes(1 << 30).build();
    /// let cached = runtime.allocate_segment(DeviceId(0), 768 << 20)?;
    /// assert!(runtime.load_model(DeviceId(0), 512 << 20).is_err());
    /// runtime.free_segment(DeviceId(0), cached.handle)?;
    /// assert!(runtime.load_model(DeviceId(0), 512 << 20).is_ok());
    /// # Ok::<(), neuronx_mem_runtime::RuntimeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SimulatorError::ModelLoad`].
    pub fn load_model(&self, device: DeviceId, bytes: u64) -> Result<ModelHandle, SimulatorError> {
        let now_ns = self.clock.now_ns();
        let failed = |status, largest_gap_bytes| SimulatorError::ModelLoad {
            device,
            bytes,
            status,
            largest_gap_bytes,
        };
        let mut slot = self.device(device).ok_or_else(|| failed(Status::INVALID, 0))?.lock();
        slot.load_model(bytes, now_ns).map_err(|status| failed(status, slot.largest_gap_bytes()))
    }

    /// Unloads a model; counts as no call. Its memory comes back at once.
    ///
    /// # Errors
    ///
    /// [`SimulatorError::UnknownModel`].
    pub fn unload_model(&self, device: DeviceId, model: ModelHandle) -> Result<(), SimulatorError> {
        let is_unloaded = self.device(device).is_some_and(|d| d.lock().unload_model(model));
        is_unloaded.then_some(()).ok_or(SimulatorError::UnknownModel { device, model })
    }

    /// Writes to a device address, as work on the device does; `false` when that is not inside one
    /// segment that is held, and nothing is written then. O(segments).
    pub fn write_address(&self, device: DeviceId, address: u64, data: &[u8]) -> bool {
        let Some(mut slot) = self.device(device).map(Mutex::lock) else { return false };
        let is_held = slot.is_held(address, data.len() as u64);
        if is_held {
            slot.memory.write(address, data);
        }
        is_held
    }

    /// Reads a device address; `None` as for [`write_address`](Self::write_address). Memory that was
    /// never written is zero. O(segments).
    #[must_use]
    pub fn read_address(&self, device: DeviceId, address: u64, bytes: usize) -> Option<Vec<u8>> {
        let slot = self.device(device)?.lock();
        let mut into = vec![0; bytes];
        slot.memory.read(address, &mut into);
        slot.is_held(address, bytes as u64).then_some(into)
    }

    /// Opens a runtime that started uninitialised; one that is open stays as it is.
    ///
    /// # Errors
    ///
    /// [`SimulatorError::Closed`].
    pub fn initialize(&self) -> Result<(), SimulatorError> {
        let are_open = self.devices.iter().all(|device| device.lock().initialize());
        are_open.then_some(()).ok_or(SimulatorError::Closed)
    }

    /// Closes the runtime for good: every later call fails with [`Status::CLOSED`].
    ///
    /// All memory of the process comes back at once: segments and their slices, slow frees,
    /// models and the runtime's own growth. Closing again does nothing.
    pub fn close(&self) {
        self.devices.iter().for_each(|device| device.lock().close());
    }

    /// Lets every slow free come back now, without a call or time passing.
    pub fn settle(&self) {
        self.devices.iter().for_each(|device| device.lock().settle());
    }

    /// Ends every fault of the plan: nothing fails any more, and neighbours, growth, pinholes
    /// and slow frees give their memory back. Segments and models stay, and so does the state.
    pub fn stop_faults(&self) {
        self.devices.iter().for_each(|device| device.lock().stop_faults());
    }

    /// The clock that runtime calls move.
    #[must_use]
    pub fn clock(&self) -> &VirtualClock {
        &self.clock
    }

    fn device(&self, device: DeviceId) -> Option<&Mutex<Device>> {
        self.devices.get(usize::try_from(device.0).ok()?)
    }

    fn touch<T>(
        &self,
        operation: Operation,
        device: DeviceId,
        place: (SegmentHandle, u64, u64),
        body: impl FnOnce(&mut Memory, u64) -> T,
    ) -> Result<T, RuntimeError> {
        let (segment, offset_bytes, bytes) = place;
        let failed = |status| RuntimeError::new(operation, device, status, bytes);
        let mut slot = self.device(device).ok_or(failed(Status::INVALID))?.lock();
        let address = slot.address_of(segment, offset_bytes, bytes).map_err(failed)?;
        Ok(body(&mut slot.memory, address))
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
        let failed = |status| RuntimeError::new(operation, device, status, bytes);
        let mut slot = self.device(device).ok_or(failed(Status::INVALID))?.lock();
        slot.begin(operation, bytes, self.clock.now_ns()).map_err(failed)?;
        body(&mut slot).map_err(failed)
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
        self.touch(Operation::WriteMemory, device, place, |memory, address| memory.write(address, data))
    }

    fn read_memory(
        &self,
        device: DeviceId,
        segment: SegmentHandle,
        offset_bytes: u64,
        into: &mut [u8],
    ) -> Result<(), RuntimeError> {
        let place = (segment, offset_bytes, into.len() as u64);
        self.touch(Operation::ReadMemory, device, place, |memory, address| memory.read(address, into))
    }

    fn fill_memory(
        &self,
        device: DeviceId,
        segment: SegmentHandle,
        offset_bytes: u64,
        bytes: u64,
        value: u8,
    ) -> Result<(), RuntimeError> {
        let place = (segment, offset_bytes, bytes);
        self.touch(Operation::WriteMemory, device, place, |memory, address| {
            memory.fill(address, bytes, value)
        })
    }

    fn find_other_byte(
        &self,
        device: DeviceId,
        segment: SegmentHandle,
        offset_bytes: u64,
        bytes: u64,
        value: u8,
    ) -> Result<Option<(u64, u8)>, RuntimeError> {
        let place = (segment, offset_bytes, bytes);
        self.touch(Operation::ReadMemory, device, place, |memory, address| {
            let other = memory.find_other(address, bytes, value);
            other.map(|(at, byte)| (at - address + offset_bytes, byte))
        })
    }
}
