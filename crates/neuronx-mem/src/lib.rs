//! The Neuron caching allocator: device memory for TorchNeuron from Rust.
//!
//! ```
//! use neuronx_mem::{Allocator, DeviceId, sim::SimulatedRuntime};
//!
//! let allocator = Allocator::builder().runtime(SimulatedRuntime::default()).build()?;
//! let device = allocator.device(DeviceId(0))?;
//! let stream = device.default_stream();
//!
//! let a = allocator.allocate(4 << 20, &stream)?; // 1024 x 1024 float32
//! let b = allocator.allocate(8 << 20, &stream)?; // 2048 x 2048 bfloat16
//! device.synchronize();
//! assert_eq!(device.memory_allocated(), 12_582_912);
//! assert_eq!(device.memory_reserved(), 67_108_864);
//!
//! device.reset_peak_memory_stats();
//! let c = allocator.allocate(64 << 20, &stream)?; // 4096 x 4096 float32
//! device.synchronize();
//! assert_eq!(device.max_memory_allocated(), 79_691_776);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Composes the single-purpose crates below it, each usable alone and re-exported here. It executes
//! no work unless feature `worker` is on: otherwise whoever does tells a [`Stream`] about it. Feature
//! `detector` finds wrong uses of memory.

#![forbid(unsafe_code)]

mod allocator;
mod block;
mod builder;
mod device;
mod error;
pub mod host;
mod metric_tables;
mod out_of_memory;
#[cfg(doctest)]
mod readme;
mod stream;

pub use allocator::Allocator;
pub use block::Block;
pub use builder::AllocatorBuilder;
pub use device::{CallbackId, Device, Handle, Released, ScalarKey, ScalarStats};
pub use error::{AllocError, BuildError};
pub use metric_tables::MetricTables;
pub use neuronx_mem_config::{self as config, AllocatorConfig};
#[cfg(feature = "detector")]
pub use neuronx_mem_detector as detector;
pub use neuronx_mem_fragmentation as fragmentation;
pub use neuronx_mem_pool as pool;
pub use neuronx_mem_rounding as rounding;
pub use neuronx_mem_runtime::{self as runtime, DeviceId, DeviceRuntime};
pub use neuronx_mem_sim as sim;
pub use neuronx_mem_snapshot as snapshot;
pub use neuronx_mem_stats::{self as stats, MemoryStats};
pub use neuronx_mem_stream as streams;
pub use out_of_memory::{Advice, OutOfMemory, PinnedSegment, RecoveryStep, StepKind};
pub use stream::Stream;
