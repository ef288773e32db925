//! Stream-ordered free queue: which freed blocks may be reused, and when.
//!
//! ```
//! use neuronx_mem_stream::{FreeQueue, StreamId};
//!
//! let mut queue = FreeQueue::new();
//! let work = queue.submit(StreamId::DEFAULT)?;
//! // The block is freed behind that work: it is not ready yet.
//! assert_eq!(queue.enqueue_free("block", 4096, StreamId::DEFAULT, None)?, None);
//! let mut ready = Vec::new();
//! queue.complete(StreamId::DEFAULT, work, |block| ready.push(block))?;
//! assert_eq!(ready, ["block"]);
//! # Ok::<(), neuronx_mem_stream::StreamError>(())
//! ```
//!
//! The queue knows order and nothing else: it runs no work, waits for nothing, has no thread
//! and no clock, and never touches a block. Its owner says what was submitted and what has
//! completed; it answers which deallocations have run. One stalled stream delays only the
//! blocks that involve it.
//!
//! The feature `worker` adds such an owner's other half, a thread that runs work in stream order.
//!
//! Follows the guidelines for memory management ("Asynchronous allocations/deallocations") and
//! allocator semantics §5.

#![forbid(unsafe_code)]

mod error;
mod ids;
#[cfg(test)]
mod interleavings;
mod lane;
mod queue;
mod records;
#[cfg(feature = "worker")]
pub mod worker;

pub use error::StreamError;
pub use ids::{RecordId, StreamId, Ticket};
pub use queue::FreeQueue;
