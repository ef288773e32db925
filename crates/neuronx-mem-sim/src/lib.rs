//! A simulated Neuron device runtime: address space, capacity, virtual clock.
//!
//! ```
//! use neuronx_mem_runtime::{DeviceId, DeviceRuntime};
//! use neuronx_mem_sim::{Lnc, Preset, SimulatedRuntime};
//!
//! let runtime = SimulatedRuntime::builder().preset(Preset::Trn2).lnc(Lnc::Two).build();
//! let segment = runtime.allocate_segment(DeviceId(0), 64 << 20)?;
//! assert_eq!(runtime.memory_info(DeviceId(0))?.limit_bytes, 24 << 30);
//! runtime.free_segment(DeviceId(0), segment.handle)?;
//! # Ok::<(), neuronx_mem_runtime::RuntimeError>(())
//! ```
//!
//! It behaves like device memory and takes next to none: an address has a byte behind it only once
//! that was written, and memory filled with one byte costs the same whatever its size. Segments come
//! first-fit from one address space a device, so fragmentation of the device itself is
//! real. The same calls give the same addresses on every machine; time is virtual and moves
//! only by the [`CostModel`]. It executes no work: [`SimulatedWork`] only says when it would end.
//!
//! It breaks on purpose when a [`FaultPlan`] says how: calls fail, neighbours and the runtime
//! itself take memory, freed memory is slow to come back, addresses come back fragmented. A plan
//! is one line of text that reproduces a run bit for bit.
//!
//! Capacities follow the memory profiling guide (note on LNC 1) and the public instance tables.

#![forbid(unsafe_code)]

mod address_space;
mod builder;
mod clock;
mod device;
mod error;
mod faults;
mod memory;
mod preset;
mod runtime;

pub use builder::SimulatedRuntimeBuilder;
pub use clock::{CostModel, VirtualClock};
pub use device::SimulatedCounters;
pub use error::SimulatorError;
pub use faults::{
    CallPattern, CompletedWork, FaultCounters, FaultPlan, FaultSpan, ModelHandle, SimulatedWork, WorkHandle,
    WorkState,
};
pub use preset::{Lnc, Preset};
pub use runtime::SimulatedRuntime;
