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

    /// Builds the runtime. Cost: O(devices + pinholes).
    #[must_use]
    pub fn build(self) -> SimulatedRuntime {
        let lnc = self.lnc.unwrap_or(self.preset.default_lnc());
        let total = self.memory_bytes.unwrap_or(self.preset.total_bytes(lnc));
        let own = self.memory_bytes.unwrap_or(self.preset.core_capacity_bytes(lnc));
        let device = |ordinal| Device::new(DeviceId(ordinal), total, total - own, &self.faults);
        let devices = (0..self.n_devices).map(device).collect();
        SimulatedRuntime::from_parts(devices, self.cost, self.clock)
    }
}
