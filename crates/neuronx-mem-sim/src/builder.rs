//! Puts a simulated runtime together. Checks nothing: every combination is a device.

use neuronx_mem_runtime::DeviceId;

use crate::device::Device;
use crate::{CostModel, FaultPlan, Lnc, Preset, SimulatedRuntime, VirtualClock};

/// Settings of a [`SimulatedRuntime`], with the memory of a trn2 logical core unless told
/// otherwise.
#[derive(Clone, Debug)]
pub struct SimulatedRuntimeBuilder {
    preset: Preset,
    lnc: Option<Lnc>,
    memory_bytes: Option<u64>,
    n_devices: u32,
    cost: CostModel,
    clock: VirtualClock,
    faults: FaultPlan,
    first_addresses: Vec<u64>,
}

impl SimulatedRuntimeBuilder {
    pub(crate) fn new() -> Self {
        Self {
            preset: Preset::default(),
            lnc: None,
            memory_bytes: None,
            n_devices: 1,
            cost: CostModel::default(),
            clock: VirtualClock::new(),
            faults: FaultPlan::default(),
            first_addresses: Vec::new(),
        }
    }

    /// Simulates logical cores of this chip.
    #[must_use]
    pub fn preset(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self
    }

    /// Sets the logical-core configuration; unset, the chip's default.
    ///
    /// At LNC 1 on trn2 and trn3 the neighbour core's half of the stack counts as in use.
    #[must_use]
    pub fn lnc(mut self, lnc: Lnc) -> Self {
        self.lnc = Some(lnc);
        self
    }

    /// Gives each device exactly this much memory, whatever the chip has.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.memory_bytes = Some(bytes);
        self
    }

    /// Simulates this many devices; 1 unless set.
    #[must_use]
    pub fn devices(mut self, n_devices: u32) -> Self {
        self.n_devices = n_devices;
        self
    }

    /// Lets runtime calls take virtual time; they take none unless set.
    #[must_use]
    pub fn cost(mut self, cost: CostModel) -> Self {
        self.cost = cost;
        self
    }

    /// Moves this clock instead of one of its own.
    #[must_use]
    pub fn clock(mut self, clock: VirtualClock) -> Self {
        self.clock = clock;
        self
    }

    /// Breaks by this plan; nothing breaks unless set.
    ///
    /// The plan's schedule of work is not the runtime's: its driver takes it from
    /// [`FaultPlan::work`].
    #[must_use]
    pub fn faults(mut self, plan: FaultPlan) -> Self {
        self.faults = plan;
        self
    }

    /// Starts the addresses of each device here, in order of the devices: for memory that a host
    /// region stands for. Multiples of 64, other than 0; what is not one is rounded up. Devices
    /// without one, and all unless set, start at a multiple of 16 TiB.
    ///
    /// ```
    /// use neuronx_mem_runtime::{DeviceId, DeviceRuntime};
    /// use neuronx_mem_sim::SimulatedRuntime;
    ///
    /// let builder = SimulatedRuntime::builder().memory_bytes(1 << 30).devices(2);
    /// let runtime = builder.first_addresses([0x7000_0000_0000]).build();
    /// assert_eq!(runtime.allocate_segment(DeviceId(0), 64)?.address, 0x7000_0000_0000);
    /// assert_eq!(runtime.allocate_segment(DeviceId(1), 64)?.address, 2 << 44);
    /// # Ok::<(), neuronx_mem_runtime::RuntimeError>(())
    /// ```
    #[must_use]
    pub fn first_addresses(mut self, addresses: impl IntoIterator<Item = u64>) -> Self {
        self.first_addresses = addresses.into_iter().collect();
        self
    }

    /// The memory of each device as the runtime will report it, bytes: what
    /// [`memory_bytes`](Self::memory_bytes) set, else the chip's.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.memory_bytes.unwrap_or(self.preset.total_bytes(self.lnc_in_force()))
    }

    /// How many devices there will be.
    #[must_use]
    pub const fn n_devices(&self) -> u32 {
        self.n_devices
    }

    /// Builds the runtime. Cost: O(devices + pinholes).
    #[must_use]
    pub fn build(self) -> SimulatedRuntime {
        let total = self.total_bytes();
        let own = self.memory_bytes.unwrap_or(self.preset.core_capacity_bytes(self.lnc_in_force()));
        let first_addresses = self.first_addresses.iter().copied().map(Some).chain(std::iter::repeat(None));
        let device = |(ordinal, first_address)| {
            Device::new(DeviceId(ordinal), first_address, total, total - own, &self.faults)
        };
        let devices = (0..self.n_devices).zip(first_addresses).map(device).collect();
        SimulatedRuntime::from_parts(devices, self.cost, self.clock)
    }

    fn lnc_in_force(&self) -> Lnc {
        self.lnc.unwrap_or(self.preset.default_lnc())
    }
}
