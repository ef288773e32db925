//! The simulated device of a sweep: which chip, how much memory, how large one segment may be.

use neuronx_mem::AllocatorConfig;
use neuronx_mem::sim::{Lnc, Preset, SimulatedRuntime};
use neuronx_mem_replay::ReplayOptions;

/// What a runtime keeps for itself unless told otherwise: one segment never takes the whole stack.
const KEPT_BYTES: u64 = 1 << 30;

/// The device on which configurations are tried; a trn2 logical core unless changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// The chip.
    pub preset: Preset,
    /// The logical-core configuration; `None` is the chip's default.
    pub lnc: Option<Lnc>,
    /// Device memory, bytes; `None` is what the chip has.
    pub memory_bytes: Option<u64>,
}

impl Machine {
    /// Device memory that the logical core can count on, bytes.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.memory_bytes.unwrap_or(self.preset.core_capacity_bytes(self.effective_lnc()))
    }

    /// The largest segment that is proposed unless told otherwise: the device less 1 GiB, and not less
    /// than half of a device that is smaller than 2 GiB.
    #[must_use]
    pub fn default_max_segment_bytes(&self) -> u64 {
        let total = self.total_bytes();
        total.saturating_sub(KEPT_BYTES).max(total / 2)
    }

    /// The options of a replay on this device.
    #[must_use]
    pub fn replay_options(&self, config: AllocatorConfig) -> ReplayOptions {
        let Self { preset, lnc, memory_bytes } = *self;
        ReplayOptions { config, preset, lnc, memory_bytes, ..ReplayOptions::default() }
    }

    fn effective_lnc(&self) -> Lnc {
        self.lnc.unwrap_or(self.preset.default_lnc())
    }

    pub(crate) fn runtime(&self) -> SimulatedRuntime {
        let builder = SimulatedRuntime::builder().preset(self.preset).lnc(self.effective_lnc());
        match self.memory_bytes {
            Some(bytes) => builder.memory_bytes(bytes).build(),
            None => builder.build(),
        }
    }
}
