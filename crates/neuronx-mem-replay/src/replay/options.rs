//! What a replay can be told. Every combination is valid.

use neuronx_mem::AllocatorConfig;
use neuronx_mem::sim::{Lnc, Preset, SimulatedRuntime};

/// Settings of a [`Replay`](crate::Replay); a trn2 logical core and the documented allocator
/// defaults unless changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplayOptions {
    /// The allocator's configuration.
    pub config: AllocatorConfig,
    /// The chip whose logical core is simulated.
    pub preset: Preset,
    /// The logical-core configuration; `None` is the chip's default.
    pub lnc: Option<Lnc>,
    /// Device memory, bytes; `None` is what the chip has.
    pub memory_bytes: Option<u64>,
    /// Stops after this many events; `None` is at the end of the trace.
    pub until: Option<u64>,
    /// How many pieces of work a stream has outstanding; 0 lets every free take effect at once.
    ///
    /// Each allocation submits one piece of work on its stream. It completes when this many
    /// later pieces have been submitted there, or at a synchronisation, so the frees behind it
    /// wait in the queue (allocator semantics §5).
    pub in_flight: u64,
}

impl ReplayOptions {
    /// The logical-core configuration in force.
    #[must_use]
    pub fn effective_lnc(&self) -> Lnc {
        self.lnc.unwrap_or(self.preset.default_lnc())
    }

    /// A fresh device of these options.
    pub(super) fn runtime(&self) -> SimulatedRuntime {
        let builder = SimulatedRuntime::builder().preset(self.preset).lnc(self.effective_lnc());
        match self.memory_bytes {
            Some(bytes) => builder.memory_bytes(bytes).build(),
            None => builder.build(),
        }
    }
}
