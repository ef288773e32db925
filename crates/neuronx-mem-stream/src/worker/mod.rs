//! An optional worker: one thread per device that runs submitted work in stream order.
//!
//! ```
//! use std::sync::mpsc;
//! use neuronx_mem_stream::worker::{Priority, Worker};
//!
//! let worker = Worker::builder(0).start()?;
//! let stream = worker.create_stream(Priority::DEFAULT)?;
//! let (sender, done) = mpsc::channel();
//! for number in 0..3 {
//!     let sender = sender.clone();
//!     stream.submit(move || sender.send(number).unwrap())?;
//! }
//! stream.synchronize()?;
//! assert_eq!(done.try_iter().collect::<Vec<_>>(), [0, 1, 2]);
//! # Ok::<(), neuronx_mem_stream::worker::WorkerError>(())
//! ```
//!
//! It knows streams, events and order. It knows no memory: whoever owns a
//! [`FreeQueue`](crate::FreeQueue) follows through [`Completion`], and a free is an entry there,
//! not work here.
//!
//! # Panics of the work
//!
//! Work that panics poisons its stream and nothing else. What is queued behind it is dropped
//! unrun, in order, and counts as completed, so deallocations behind it still run. New work is
//! refused with the text of the panic until the stream is [reset](Stream::reset). Of the calls
//! that wait for the stream (`synchronize`, `synchronize_all`, `shutdown`) the first returns the
//! error, once; so PyTorch rethrows a stream's pending error at its next synchronization.
//!
//! # Forks
//!
//! A thread does not survive a fork: in the child every call is refused with
//! [`WorkerError::Forked`].
//!
//! Follows the guidelines for memory management ("Asynchronous allocations/deallocations") and
//! allocator semantics §5.

mod builder;
mod clock;
mod completion;
mod device;
mod error;
mod event;
mod item;
mod lane;
#[cfg(all(test, loom))]
mod model;
mod panic;
mod pending;
mod position;
mod priority;
mod process;
mod run;
mod shared;
mod signal;
mod state;
mod stream;
mod sync;

pub use builder::{STREAM_POOL_SIZE, WorkerBuilder};
pub use clock::{Clock, MonotonicClock};
pub use completion::Completion;
pub use device::Worker;
pub use error::{MissingTime, WorkerError};
pub use event::Event;
pub use panic::MAX_PANIC_BYTES;
pub use pending::Pending;
pub use priority::Priority;
pub use process::{ProcessIdentity, SystemProcess};
pub use signal::Signal;
pub use stream::Stream;
