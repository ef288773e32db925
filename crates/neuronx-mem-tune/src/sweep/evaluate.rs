//! One configuration on one workload: the pool over a simulated device, without the facade's locks,
//! streams and statistics. Equal to a replay with no work in flight, figure by figure.

use neuronx_mem::pool::{BlockId, PoolError, Request, SegmentPool};
use neuronx_mem::runtime::{DeviceRuntime, RuntimeError, SegmentAllocation, SegmentHandle};
use neuronx_mem::sim::SimulatedRuntime;
use neuronx_mem::{AllocatorConfig, DeviceId};

use super::{Figures, Machine, Verdict};
use crate::Workload;
use crate::workload::Step;

const DEVICE: DeviceId = DeviceId(0);

/// Runs a workload under a configuration on a fresh device.
///
/// Gives up as soon as more than `bound_bytes` are reserved; `u64::MAX` never does. The result
/// depends on the arguments alone. About 40 ns an event.
///
/// ```
/// use neuronx_mem::AllocatorConfig;
/// use neuronx_mem_replay::TraceReader;
/// use neuronx_mem_tune::{Machine, Workload, evaluate};
///
/// let trace = TraceReader::new("a,1,4194304,0\na,2,8388608,0\nf,1\n".as_bytes(), "two tensors");
/// let workload = Workload::read(trace)?;
/// let figures = evaluate(&workload, &AllocatorConfig::default(), &Machine::default(), u64::MAX);
/// assert_eq!(figures.allocated_peak_bytes, 12_582_912);
/// assert_eq!(figures.reserved_peak_bytes, 67_108_864);
/// # Ok::<(), neuronx_mem_tune::TuneError>(())
/// ```
#[must_use]
pub fn evaluate(
    workload: &Workload,
    config: &AllocatorConfig,
    machine: &Machine,
    bound_bytes: u64,
) -> Figures {
    let mut run = Run::new(config, machine.runtime(), bound_bytes);
    let Ok(requests) = plans(workload, &run.pool) else { return run.figures(Verdict::SizeOverflow) };
    let mut live = vec![None::<BlockId>; workload.n_slots()];
    for (position, step) in workload.steps().enumerate() {
        match step {
            Step::Allocate { slot, size_idx } => match run.allocate(&requests[size_idx as usize]) {
                Ok(id) => live[slot as usize] = Some(id),
                Err(Stop::OutOfMemory) => {
                    return run.figures(Verdict::OutOfMemory { event: position as u64 + 1 });
                }
                Err(Stop::Abandoned) => return run.figures(Verdict::Abandoned),
            },
            Step::Free { slot } => {
                if let Some(id) = live[slot as usize].take() {
                    run.free(id);
                }
            }
            Step::Synchronize | Step::Nothing => {}
        }
    }
    run.figures(Verdict::Finished)
}

fn plans(workload: &Workload, pool: &SegmentPool) -> Result<Vec<Request>, PoolError> {
    workload.sizes().iter().map(|bytes| pool.policy().plan(*bytes)).collect()
}

/// Why a run ends before its last event.
enum Stop {
    OutOfMemory,
    Abandoned,
}

struct Run {
    pool: SegmentPool,
    runtime: SimulatedRuntime,
    bound_bytes: u64,
    reserved: Level,
    allocated: Level,
    active: Level,
    num_device_alloc: u64,
    num_alloc_retries: u64,
    largest_segment_bytes: u64,
}

/// A quantity and the most it ever was.
#[derive(Clone, Copy, Default)]
struct Level {
    now: u64,
    peak: u64,
}

impl Level {
    #[inline]
    fn add(&mut self, bytes: u64) {
        self.now += bytes;
        self.peak = self.peak.max(self.now);
    }
}

impl Run {
    fn new(config: &AllocatorConfig, runtime: SimulatedRuntime, bound_bytes: u64) -> Self {
        Self {
            pool: SegmentPool::new(config),
            runtime,
            bound_bytes,
            reserved: Level::default(),
            allocated: Level::default(),
            active: Level::default(),
            num_device_alloc: 0,
            num_alloc_retries: 0,
            largest_segment_bytes: 0,
        }
    }

    #[inline]
    fn allocate(&mut self, request: &Request) -> Result<BlockId, Stop> {
        let placement = match self.pool.allocate(request) {
            Some(placement) => placement,
            None => self.grow(request)?,
        };
        self.allocated.add(placement.block_bytes);
        self.active.add(request.requested_bytes());
        Ok(placement.id)
    }

    #[inline]
    fn free(&mut self, id: BlockId) {
        // The workload frees each tensor once, so the handle is live.
        if let Ok(freed) = self.pool.free(id) {
            self.allocated.now -= freed.block_bytes;
            self.active.now -= freed.requested_bytes;
        }
    }

    /// A new segment; on "resource exhausted" everything cached goes back first, once.
    #[cold]
    fn grow(&mut self, request: &Request) -> Result<neuronx_mem::pool::Placement, Stop> {
        let bytes = self.pool.policy().segment_bytes(request).map_err(|_| Stop::OutOfMemory)?;
        let segment = match self.take(bytes) {
            Ok(segment) => segment,
            Err(error) if error.status.is_resource_exhausted() => {
                for segment in self.pool.release_free_segments() {
                    self.reserved.now -= segment.bytes;
                    // The simulated runtime takes back whatever it gave.
                    let _ = self.runtime.free_segment(DEVICE, SegmentHandle(segment.tag));
                }
                self.num_alloc_retries += 1;
                self.take(bytes).map_err(|_| Stop::OutOfMemory)?
            }
            Err(_) => return Err(Stop::OutOfMemory),
        };
        self.reserved.add(bytes);
        self.num_device_alloc += 1;
        self.largest_segment_bytes = self.largest_segment_bytes.max(bytes);
        if self.reserved.now > self.bound_bytes {
            return Err(Stop::Abandoned);
        }
        let placed = self.pool.grow(request, segment.address, bytes, segment.handle.0);
        placed.map_err(|_| Stop::OutOfMemory)
    }

    fn take(&self, bytes: u64) -> Result<SegmentAllocation, RuntimeError> {
        self.runtime.allocate_segment(DEVICE, bytes)
    }

    fn figures(&self, verdict: Verdict) -> Figures {
        Figures {
            verdict,
            reserved_peak_bytes: self.reserved.peak,
            allocated_peak_bytes: self.allocated.peak,
            active_peak_bytes: self.active.peak,
            reserved_bytes: self.reserved.now,
            num_device_alloc: self.num_device_alloc,
            num_alloc_retries: self.num_alloc_retries,
            largest_segment_bytes: self.largest_segment_bytes,
        }
    }
}
