//! Records what the allocator does while a program runs. Knows a bounded ring of compact records
//! and the options of `record_memory_history`; refuses to read the clock (the caller passes the
//! time) and to allocate host memory for an event once the ring is warm.
//!
//! Follows the allocator semantics §9. Off, an event costs one predictable branch.
//!
//! ```
//! use neuronx_mem_snapshot::history::{Event, History, RecordOptions};
//! use neuronx_mem_snapshot::{Action, Snapshot};
//!
//! let mut history = History::new();
//! history.configure(&RecordOptions::builder().max_entries(1000).build());
//! history.record(&Event::new(Action::Alloc, 17).with_addr(0x1000).with_size_bytes(300));
//!
//! let mut snapshot = Snapshot::new();
//! history.export(&mut snapshot, 0);
//! assert_eq!(snapshot.trace(0)[0].trace_id(), Some(1));
//! ```

mod event;
mod export;
mod metadata;
#[cfg(feature = "backtrace")]
mod native;
mod options;
mod provider;
mod recorder;
mod ring;

#[cfg(test)]
mod tests;

pub use event::Event;
pub use export::{Entries, Entry};
#[cfg(feature = "backtrace")]
pub use native::NativeStacks;
pub use options::{
    ActionSet, EnabledArg, RecordOptions, RecordOptionsBuilder, Recording, StackContext, StackKind,
};
pub use provider::{NoStacks, SharedStacks, StackProvider};
pub use recorder::History;
