//! Fragmentation of device memory: how much is free, and how much of it can be used.
//!
//! ```
//! use neuronx_mem_fragmentation::{Analysis, BlockLayout, DeviceLayout, Pool, SegmentLayout};
//!
//! // The memory profiling guide's example: 4 MiB and 8 MiB in one 64 MiB segment of 24 GiB.
//! let mib = |n: u64| n << 20;
//! let segment = SegmentLayout::new(0, Pool::Large, [
//!     BlockLayout::live(mib(4), mib(4)),
//!     BlockLayout::live(mib(8), mib(8)),
//!     BlockLayout::free(mib(52)),
//! ]);
//! let layout = DeviceLayout::new(0, mib(24 << 10), Some(0..mib(24 << 10)), vec![segment]);
//! let analysis = Analysis::of(&layout);
//! assert_eq!(analysis.fragmentation_index, 0.0);
//! assert_eq!(analysis.largest_free_bytes, mib((24 << 10) - 64));
//! assert_eq!(analysis.memory_density, 1.0);
//! ```
//!
//! It looks at the segments and blocks of one device, live or from a snapshot file, PyTorch's
//! own included. It knows addresses and sizes, never the allocator: it cannot allocate, free or
//! predict rounding, and says where it had to assume something.
//!
//! Follows the memory profiling guide (step 3) and allocator semantics §8.

#![forbid(unsafe_code)]

mod analysis;
mod capacity;
mod histogram;
mod layout;
mod occupancy;
mod regions;
mod report;
mod snapshot;

pub use analysis::Analysis;
pub use capacity::{Capacity, Servable};
pub use histogram::{Histogram, SizeClass};
pub use layout::{BlockLayout, BlockUse, DeviceLayout, Pool, SegmentLayout};
pub use occupancy::{PinningBlock, SegmentOccupancy};
pub use snapshot::SnapshotOptions;
