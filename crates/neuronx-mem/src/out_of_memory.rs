//! The out-of-memory error: numbers in fields, one line for people, and a report. Explains; what
//! it advises follows from the numbers and the configuration in force.

mod advice;
mod report;

pub use advice::Advice;

use std::fmt;

use neuronx_mem_config::AllocatorConfig;
use neuronx_mem_pool::{BlockView, NearestMiss};
use neuronx_mem_runtime::DeviceId;
use neuronx_mem_stream::StreamId;

/// Why a request could not be served, as things stood after the last try (allocator semantics
/// §6). All sizes in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutOfMemory {
    /// The device.
    pub device: DeviceId,
    /// Asked for.
    pub requested_bytes: u64,
    /// Block size by the rounding rule.
    pub rounded_bytes: u64,
    /// Segment that the runtime was asked for.
    pub segment_bytes: u64,
    /// Device memory, 0 when the runtime did not say.
    pub total_bytes: u64,
    /// The cap in force, where one is set below the device's memory.
    pub cap_bytes: Option<u64>,
    /// Held from the runtime.
    pub reserved_bytes: u64,
    /// Block sizes of live tensors.
    pub allocated_bytes: u64,
    /// What live tensors asked for.
    pub active_bytes: u64,
    /// Free inside held segments, both pools.
    pub cached_free_bytes: u64,
    /// Largest free block of the request's pool.
    pub largest_free_bytes: u64,
    /// Fully free segments, which stay cached when recovery is switched off.
    pub free_segment_bytes: u64,
    /// Largest gap of the device's addresses outside all segments of this allocator; `None` when
    /// the runtime cannot tell. Others may hold part of it.
    pub largest_gap_bytes: Option<u64>,
    /// In use on the device by others than this allocator.
    pub used_by_others_bytes: u64,
    /// Bytes whose deallocation waits, by stream; streams without any are left out.
    pub pending: Vec<(StreamId, u64)>,
    /// The configuration in force.
    pub config: AllocatorConfig,
    /// Its hash.
    pub config_hash: u64,
    /// Whether the second recovery step was switched on.
    pub is_recovery_enabled: bool,
    /// Recovery steps taken, in order.
    pub steps: Vec<RecoveryStep>,
    /// The free block that came closest.
    pub nearest_miss: Option<NearestMiss>,
    /// The segment that would serve the request if the fewest bytes in it were freed.
    pub best_segment: Option<PinnedSegment>,
}

/// A segment that is large enough, and the blocks that are in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedSegment {
    /// First device address.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// Bytes that live and pending blocks occupy in it.
    pub pinned_bytes: u64,
    /// These blocks, in order of address.
    pub blocks: Vec<BlockView>,
}

/// One step of recovery and what it gained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryStep {
    /// What was done.
    pub kind: StepKind,
    /// Bytes that became free, or were given back to the runtime.
    pub gained_bytes: u64,
}

/// What a recovery step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepKind {
    /// Waits for the work on the request's own stream.
    WaitForStream,
    /// Runs the registered release callbacks.
    RunCallbacks,
    /// Waits for the work on all other streams.
    WaitForOtherStreams,
    /// Gives fully free segments back to the runtime.
    ReleaseSegments,
}

impl OutOfMemory {
    /// The cap where one is in force, else the device's memory.
    #[must_use]
    pub fn effective_total_bytes(&self) -> u64 {
        self.cap_bytes.unwrap_or(self.total_bytes)
    }
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Neuron out of memory: tried to allocate {} on device {}: total {}, reserved {}, allocated {}, \
             cached free {} (largest block {})",
            Size(self.requested_bytes),
            self.device,
            Size(self.effective_total_bytes()),
            Size(self.reserved_bytes),
            Size(self.allocated_bytes),
            Size(self.cached_free_bytes),
            Size(self.largest_free_bytes),
        )?;
        if self.used_by_others_bytes > 0 {
            write!(f, ", used by others {}", Size(self.used_by_others_bytes))?;
        }
        if self.cap_bytes.is_some() {
            write!(f, ", capped below the device's {}", Size(self.total_bytes))?;
        }
        Ok(())
    }
}

impl std::error::Error for OutOfMemory {}

/// Bytes with two decimals of the largest unit that fits, as PyTorch's messages have them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size(pub(crate) u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, shift) = match self.0 {
            0..1_024 => return write!(f, "{} bytes", self.0),
            1_024..1_048_576 => ("KiB", 10),
            1_048_576..1_073_741_824 => ("MiB", 20),
            _ => ("GiB", 30),
        };
        write!(f, "{:.2} {unit}", self.0 as f64 / f64::from(1u32 << shift))
    }
}
