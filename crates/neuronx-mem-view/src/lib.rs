//! A memory history to look at.
//!
//! ```
//! use neuronx_mem_replay::{Input, ReplayOptions, TraceReader};
//! use neuronx_mem_view::Recording;
//!
//! let text = "a,1,4194304,0\na,2,8388608,0\nf,1\n";
//! let input = Input::from_events(TraceReader::new(text.as_bytes(), "two tensors"))?;
//! let recording = Recording::of(&input, &ReplayOptions::default())?;
//! assert_eq!(recording.timeline.allocated_bytes, [0, 4 << 20, 12 << 20, 8 << 20]);
//! assert_eq!(recording.totals.peak_event, 2);
//! assert_eq!(recording.live_at(3).count(), 1);
//! # Ok::<(), neuronx_mem_view::ViewError>(())
//! ```
//!
//! A [`Recording`] is a run read once, from a trace (which is replayed through the allocator) or from
//! a snapshot of this allocator or of PyTorch (which is taken as it is), laid out in columns: sums
//! after every event, the life of every allocation and of every segment, marks and out-of-memory
//! errors.
//!
//! It follows allocator semantics §1, §3 and §9. It judges nothing, prints nothing and opens no
//! connection.

#![forbid(unsafe_code)]

mod error;
mod model;
mod page;
#[cfg(feature = "terminal")]
pub mod terminal;

pub use error::ViewError;
pub use model::{
    Allocation, AllocationId, Allocations, BlockOnMap, EventKind, Events, Mark, MarkKind, Origin,
    OutOfMemoryMark, Recording, STILL_LIVE, SegmentLife, SegmentOnMap, SiteTotal, Timeline, Totals,
};
pub use page::{PageOptions, write_page};
