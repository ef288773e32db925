//! Statistics of a device, as the memory profiling guide names them. Reads take no lock; resets
//! are the writer's and do.

use neuronx_mem_pool::{SegmentPool, Usage};
use neuronx_mem_runtime::{DeviceRuntime, MemoryInfo};
use neuronx_mem_stats::{MemoryStats, StatsReader};

use super::Device;
use crate::{AllocError, AllocatorConfig};

impl Device {
    /// Block bytes that live tensors hold. One atomic load.
    #[must_use]
    #[inline]
    pub fn memory_allocated(&self) -> u64 {
        self.shared.stats.memory_allocated()
    }

    /// Most of them at once since the last reset of peaks. One atomic load.
    #[must_use]
    pub fn max_memory_allocated(&self) -> u64 {
        self.shared.stats.max_memory_allocated()
    }

    /// Bytes of the segments held from the runtime. One atomic load.
    #[must_use]
    pub fn memory_reserved(&self) -> u64 {
        self.shared.stats.memory_reserved()
    }

    /// Most of them at once since the last reset of peaks. One atomic load.
    #[must_use]
    pub fn max_memory_reserved(&self) -> u64 {
        self.shared.stats.max_memory_reserved()
    }

    /// All statistics as they were at one moment. Takes no lock.
    ///
    /// [`MemoryStats::to_map`] is the flat dict, [`MemoryStats::is_settled`] says whether a
    /// deallocation was still queued.
    #[must_use]
    pub fn memory_stats(&self) -> MemoryStats {
        self.shared.stats.read()
    }

    /// The table of `memory_summary()`.
    #[must_use]
    pub fn memory_summary(&self) -> String {
        self.memory_stats().summary(self.shared.id.0)
    }

    /// Sets every peak to its current value, typically once a step.
    pub fn reset_peak_memory_stats(&self) {
        self.shared.state.lock().stats.reset_peak();
    }

    /// Zeroes the counters and every `allocated` and `freed`.
    pub fn reset_accumulated_memory_stats(&self) {
        self.shared.state.lock().stats.reset_accumulated();
    }

    /// A reader that outlives the device, for monitoring threads.
    #[must_use]
    pub fn stats_reader(&self) -> StatsReader {
        self.shared.stats.clone()
    }

    /// Sums over all blocks, padding and pending bytes included. Takes the lock; O(blocks).
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.inspect(SegmentPool::usage)
    }

    /// Shows the pool to `look` under the device's lock: keep it short, and call nothing of this
    /// device from inside.
    pub fn inspect<T>(&self, look: impl FnOnce(&SegmentPool) -> T) -> T {
        look(&self.shared.state.lock().pool)
    }

    /// What the runtime says of the device's memory, all users included.
    ///
    /// # Errors
    ///
    /// [`AllocError::Runtime`].
    pub fn memory_info(&self) -> Result<MemoryInfo, AllocError> {
        Ok(self.shared.runtime.memory_info(self.shared.id)?)
    }

    /// The runtime it takes segments from.
    #[must_use]
    pub fn runtime(&self) -> &dyn DeviceRuntime {
        &*self.shared.runtime
    }

    /// The configuration in force.
    #[must_use]
    pub fn config(&self) -> &AllocatorConfig {
        &self.shared.config
    }
}
