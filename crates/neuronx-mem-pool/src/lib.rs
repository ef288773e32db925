//! Segments and blocks of the Neuron caching allocator as a pure data structure.
//!
//! ```
//! use neuronx_mem_config::AllocatorConfig;
//! use neuronx_mem_pool::SegmentPool;
//!
//! let mut pool = SegmentPool::new(&AllocatorConfig::default());
//! let request = pool.policy().plan(4 << 20)?;
//! assert!(pool.allocate(&request).is_none()); // nothing is cached yet
//! assert_eq!(pool.policy().segment_bytes(&request)?, 64 << 20);
//! let block = pool.grow(&request, 0x1000_0000, 64 << 20, 0)?; // carved from a new segment
//! assert_eq!((block.address, block.block_bytes), (0x1000_0000, 4 << 20));
//! pool.free(block.id)?;
//! # Ok::<(), neuronx_mem_pool::PoolError>(())
//! ```
//!
//! It decides which addresses serve which request: pools, best fit, splitting, merging. It never
//! sees a runtime, a thread, a clock, an environment variable or the memory itself, and hashes
//! nothing: the same requests give the same layout everywhere. Statistics are the caller's;
//! every change comes back with the numbers that they need.
//!
//! Follows the guidelines for memory management and allocator semantics §1 to §3.

#![forbid(unsafe_code)]

mod block;
mod check;
mod error;
mod growth;
mod index;
mod miss;
mod outcome;
mod policy;
mod pool;
mod segment;
mod slab;
mod view;

pub use block::{BlockId, BlockState};
pub use check::Inconsistency;
pub use error::PoolError;
pub use miss::{MissReason, NearestMiss};
pub use outcome::{Freed, Placement, ReleasedSegment, SplitChange};
pub use policy::{PlacementPolicy, PoolKind, Request};
pub use pool::{LiveBlock, SegmentPool};
pub use segment::SegmentId;
pub use view::{BlockView, SegmentView, Usage};
