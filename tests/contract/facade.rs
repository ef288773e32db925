//! The facade under the contract.

use std::collections::BTreeMap;
use std::sync::Arc;

use neuronx_mem::pool::BlockId;
use neuronx_mem::sim::SimulatedRuntime;
use neuronx_mem::streams::{StreamId, Ticket};
use neuronx_mem::{
    AllocError, Allocator, AllocatorConfig, CallbackId, Device, DeviceId, DeviceRuntime, Handle,
};

use super::standin::Standin;
use super::subject::{Held, Outcome, Setup, Subject};

pub(crate) struct Facade {
    name: &'static str,
    allocator: Allocator,
    device: Device,
    back: Back,
}

/// Who is asked, at the end, whether everything came back.
enum Back {
    Simulator(Arc<SimulatedRuntime>),
    Libnrt(Standin),
}

pub(crate) fn over_simulator(setup: &Setup) -> Box<dyn Subject> {
    let builder = SimulatedRuntime::builder().memory_bytes(setup.memory_bytes).devices(setup.devices);
    let runtime = Arc::new(builder.faults(setup.faults.parse().unwrap()).build());
    Facade::make("facade over simulator", setup, runtime.clone(), Back::Simulator(runtime))
}

pub(crate) fn over_libnrt(setup: &Setup) -> Box<dyn Subject> {
    let standin = Standin::new(&libnrt_settings(setup));
    let runtime = Arc::new(standin.open());
    Facade::make("facade over libnrt", setup, runtime, Back::Libnrt(standin))
}

pub(crate) fn libnrt_settings(setup: &Setup) -> String {
    format!("memory={};devices={};faults={}", setup.memory_bytes, setup.devices, setup.faults)
}

pub(crate) fn check_libnrt(standin: &Standin) {
    let counters = standin.counters();
    assert_eq!((counters.live_tensors, counters.held_bytes, counters.invalid_frees), (0, 0, 0));
}

fn outcome(error: &AllocError) -> Outcome {
    match error {
        AllocError::OutOfMemory(_) => Outcome::OutOfMemory,
        AllocError::Runtime(error) => Outcome::Runtime(error.status.0),
        AllocError::SizeOverflow { .. } => Outcome::SizeOverflow,
        AllocError::Stream(_) => Outcome::UnknownStream,
        AllocError::Pool(_) => Outcome::InvalidBlock,
        _ => Outcome::Other,
    }
}

fn handle(held: &Held) -> Option<Handle> {
    let Held { id, address, block_bytes, extent_bytes, .. } = *held;
    (id != 0).then_some(Handle { id: BlockId::from_bits(id), address, block_bytes, extent_bytes })
}

impl Facade {
    fn make(
        name: &'static str,
        setup: &Setup,
        runtime: Arc<dyn DeviceRuntime>,
        back: Back,
    ) -> Box<dyn Subject> {
        let config = AllocatorConfig::parse(setup.config).config;
        let builder = Allocator::builder().shared_runtime(runtime).config(config);
        let allocator = builder.oom_recovery(setup.has_recovery).build().unwrap();
        let device = allocator.device(DeviceId(0)).unwrap().clone();
        Box::new(Self { name, allocator, device, back })
    }
}

impl Subject for Facade {
    fn name(&self) -> &'static str {
        self.name
    }

    fn has_faults(&self) -> bool {
        true
    }

    fn allocate(&self, bytes: u64, stream: u32) -> Result<Held, Outcome> {
        let handle = self.device.allocate_handle(bytes, StreamId(stream)).map_err(|error| outcome(&error))?;
        Ok(Held {
            id: handle.map_or(0, |handle| handle.id.to_bits()),
            address: handle.map_or(0, |handle| handle.address),
            requested_bytes: bytes,
            block_bytes: handle.map_or(0, |handle| handle.block_bytes),
            extent_bytes: handle.map_or(0, |handle| handle.extent_bytes),
        })
    }

    fn free(&self, held: &Held) -> Result<(), Outcome> {
        let free = |handle| self.device.free_handle(handle).map_err(|error| outcome(&error));
        handle(held).map_or(Ok(()), free)
    }

    fn record_stream(&self, held: &Held, stream: u32) -> Result<(), Outcome> {
        let record = |handle| self.device.record_stream_handle(handle, StreamId(stream));
        handle(held).map_or(Ok(()), record).map_err(|error| outcome(&error))
    }

    fn new_stream(&self) -> u32 {
        self.device.new_stream().unwrap().id().0
    }

    fn submit(&self, stream: u32) -> u64 {
        self.device.stream(StreamId(stream)).unwrap().submit().unwrap().0
    }

    fn complete(&self, stream: u32, ticket: u64) -> Result<(), Outcome> {
        let stream = self.device.stream(StreamId(stream)).map_err(|error| outcome(&error))?;
        stream.complete(Ticket(ticket)).map_err(|error| outcome(&error))
    }

    fn synchronize(&self) {
        self.device.synchronize();
    }

    fn empty_cache(&self) -> (u64, u64) {
        let released = self.allocator.empty_cache().unwrap();
        (released.segments, released.bytes)
    }

    fn stats_of(&self, device: u32) -> BTreeMap<String, i64> {
        self.allocator.device(DeviceId(device)).unwrap().memory_stats().to_map()
    }

    fn summary(&self) -> String {
        self.device.memory_summary()
    }

    fn analysis_summary(&self) -> String {
        self.device.segment_pool_analysis_summary()
    }

    fn reset_peak(&self) {
        self.device.reset_peak_memory_stats();
    }

    fn reset_accumulated(&self) {
        self.device.reset_accumulated_memory_stats();
    }

    fn set_cap(&self, bytes: u64) {
        self.device.set_memory_cap_bytes(Some(bytes));
    }

    fn memory_info(&self) -> (u64, u64) {
        let info = self.device.memory_info().unwrap();
        (info.used_bytes, info.limit_bytes)
    }

    fn on_release(&self, callback: Box<dyn Fn() + Send + Sync>) -> u64 {
        self.device.register_release_callback(callback).to_bits()
    }

    fn forget_release(&self, id: u64) -> bool {
        self.device.unregister_release_callback(CallbackId::from_bits(id))
    }

    fn snapshot_json(&self) -> String {
        String::from_utf8(self.allocator.snapshot().to_json().unwrap()).unwrap()
    }

    fn end(self: Box<Self>) {
        let Self { allocator, device, back, .. } = *self;
        drop((allocator, device));
        match back {
            Back::Simulator(runtime) => assert_eq!(runtime.counters(DeviceId(0)).held_bytes, 0),
            Back::Libnrt(standin) => check_libnrt(&standin),
        }
    }
}
