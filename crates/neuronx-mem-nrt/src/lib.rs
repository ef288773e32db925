//! The Neuron runtime, libnrt, behind the [`DeviceRuntime`](neuronx_mem_runtime::DeviceRuntime)
//! trait: opened when the program runs, so that one build serves hosts with and without it.
//!
//! ```
//! use neuronx_mem_nrt::{NrtError, NrtRuntime};
//!
//! match NrtRuntime::builder().path("/nowhere/libnrt.so.1").open() {
//!     Ok(runtime) => println!("libnrt {}", runtime.version()),
//!     Err(NrtError::LibraryNotFound { package, .. }) => assert_eq!(package, "aws-neuronx-runtime-lib"),
//!     Err(error) => println!("{error}"),
//! }
//! ```
//!
//! A segment is a device tensor, a block a slice of it, made when somebody first asks for the
//! block's tensor: an allocation that the cache serves makes no runtime call. Every argument is
//! checked before a call, every answer after it; libnrt is never called with a lock of a device
//! held. The crate places nothing, caches no memory and retries nothing: that is the allocator's
//! business. It knows no compiled models, no collectives and no asynchronous queues.
//!
//! Follows the public headers of libnrt (`nrt.h`, `nrt_status.h`, `nrt_version.h`), the Neuron
//! release notes, and the guidelines for memory management ("How torch-neuronx manages device
//! memory").

#![warn(clippy::undocumented_unsafe_blocks, clippy::multiple_unsafe_ops_per_block)]

mod builder;
mod calls;
mod counters;
mod error;
mod exhausted;
mod ffi;
mod gate;
mod library;
mod lnc;
mod process;
#[cfg(doctest)]
mod readme;
mod runtime;
mod status;
mod symbols;
mod tensor;
mod version;

pub use builder::{Framework, LIBRARY_VARIABLE, NrtRuntimeBuilder, RUNTIME_PACKAGE};
pub use counters::CallCounters;
pub use error::{Garbage, NrtError};
pub use exhausted::DeviceExhausted;
pub use ffi::NrtTensor;
pub use lnc::{InstanceFamily, LogicalCores};
pub use runtime::NrtRuntime;
pub use status::NrtStatus;
pub use symbols::Symbol;
pub use tensor::Tensor;
pub use version::NrtVersion;
