//! The device runtime that an allocator takes its segments from, as a trait.
//!
//! ```
//! use neuronx_mem_runtime::{DeviceId, Operation, RuntimeError, Status};
//!
//! let error = RuntimeError::new(Operation::AllocateSegment, DeviceId(0), Status::RESOURCE, 64 << 20);
//! assert!(error.status.is_resource_exhausted());
//! assert_eq!(
//!     error.to_string(),
//!     "allocate segment of 67108864 bytes on device 0 failed: NRT_RESOURCE (4)"
//! );
//! ```
//!
//! The vocabulary between the allocator and whatever owns device memory: the simulated device
//! (`neuronx-mem-sim`), libnrt, or a runtime of your own. It allocates nothing, caches nothing
//! and never retries: what to do about a failure is the allocator's business.
//!
//! Follows the guidelines for memory management ("How torch-neuronx manages device memory")
//! and the status codes of the public libnrt headers.

#![forbid(unsafe_code)]

mod device;
mod error;
mod memory;
mod status;

pub use device::{DeviceId, DeviceRuntime, MemoryInfo, SegmentAllocation, SegmentHandle, SliceHandle};
pub use error::{Operation, RuntimeError};
pub use status::Status;
