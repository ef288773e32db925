//! The pool alone, and the facade by handle and by block.

use neuronx_mem::pool::{BlockId, SegmentPool};
use neuronx_mem::sim::SimulatedRuntime;
use neuronx_mem::snapshot::history::RecordOptions;
use neuronx_mem::streams::StreamId;
use neuronx_mem::{Allocator, AllocatorBuilder, AllocatorConfig, Block, Device, DeviceId, Stream};

use super::{Runner, Subject};
use crate::workload::{Step, Workload};

/// More device memory than any workload needs.
const MEMORY_BYTES: u64 = 1 << 43;

pub struct Pool {
    inner: SegmentPool,
    next_address: u64,
}

impl Pool {
    pub fn new() -> Self {
        Self { inner: SegmentPool::new(&AllocatorConfig::default()), next_address: 0 }
    }
}

impl Subject for Pool {
    type Handle = PoolHandle;

    fn allocate(&mut self, bytes: u64) -> PoolHandle {
        let request = self.inner.policy().plan(bytes).expect("workloads ask for real sizes");
        if let Some(placement) = self.inner.allocate(&request) {
            return PoolHandle(placement.id);
        }
        let address = self.next_address;
        let bytes = self.inner.policy().segment_bytes(&request).expect("workloads ask for real sizes");
        self.next_address += bytes;
        let placement = self.inner.grow(&request, address, bytes, 0);
        PoolHandle(placement.expect("addresses never repeat").id)
    }

    fn free(&mut self, handle: PoolHandle) {
        self.inner.free(handle.0).expect("a workload frees once");
    }
}

#[derive(Clone, Copy)]
pub struct PoolHandle(BlockId);

impl Default for PoolHandle {
    fn default() -> Self {
        Self(BlockId::from_bits(u64::MAX))
    }
}

pub fn device() -> Device {
    device_of(Allocator::builder())
}

fn device_of(builder: AllocatorBuilder) -> Device {
    let runtime = SimulatedRuntime::builder().memory_bytes(MEMORY_BYTES).build();
    let allocator = builder.runtime(runtime).build().expect("there is one device");
    allocator.device(DeviceId(0)).expect("there is one device").clone()
}

pub struct Handles {
    device: Device,
}

impl Handles {
    pub fn new() -> Self {
        Self { device: device() }
    }

    /// With the memory history on, a ring of 65,536 events, no stacks.
    pub fn recording() -> Self {
        Self::recording_on(device())
    }

    /// The same with a clock that stands still: the real one finds out its rate first, in a number of
    /// instructions that is never the same twice.
    pub fn recording_without_clock() -> Self {
        Self::recording_on(device_of(Allocator::builder().clock_us(|| 0)))
    }

    fn recording_on(device: Device) -> Self {
        device.record_memory_history(&RecordOptions::builder().max_entries(1 << 16).build());
        Self { device }
    }
}

impl Subject for Handles {
    type Handle = PoolHandle;

    fn allocate(&mut self, bytes: u64) -> PoolHandle {
        let handle = self.device.allocate_handle(bytes, StreamId::DEFAULT).expect("memory is ample");
        PoolHandle(handle.expect("workloads ask for real sizes").id)
    }

    fn free(&mut self, handle: PoolHandle) {
        self.device.free_id(handle.0).expect("a workload frees once");
    }
}

/// Blocks are not `Copy`, so they have a runner of their own.
pub struct Blocks {
    device: Device,
    stream: Stream,
    blocks: Vec<Option<Block>>,
}

impl Blocks {
    pub fn new(workload: &Workload) -> Self {
        let device = device();
        let stream = device.default_stream();
        let blocks = (0..workload.n_slots).map(|_| None).collect();
        let mut runner = Self { device, stream, blocks };
        runner.steps(&workload.setup);
        runner
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            let slot = &mut self.blocks[step.slot as usize];
            *slot = match step.bytes {
                0 => None,
                bytes => Some(self.device.allocate(bytes, &self.stream).expect("memory is ample")),
            };
        }
    }
}

impl Runner for Blocks {
    fn run(&mut self, workload: &Workload, repeats: usize) {
        for _ in 0..repeats {
            self.steps(&workload.steps);
        }
    }
}
