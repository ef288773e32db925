//! Memory snapshots and history in the format of the PyTorch memory visualizer.
//!
//! ```
//! use neuronx_mem_snapshot::{Action, Limits, Snapshot, TraceEntry};
//!
//! let mut snapshot = Snapshot::new();
//! snapshot.push_entry(0, TraceEntry::new(Action::Alloc).with_addr(0x1000).with_size_bytes(512));
//! let bytes = snapshot.to_pickle()?;
//! let back = Snapshot::read_slice(&bytes, &Limits::default())?;
//! assert_eq!(back, snapshot);
//! # Ok::<(), neuronx_mem_snapshot::Error>(())
//! ```
//!
//! The crate knows three things: the *model* of a snapshot ([`Snapshot`], with call stacks
//! stored once in a [`StackTable`]), its two file formats (pickle and JSON, both ways, see
//! [`Snapshot::read_slice`] and [`Snapshot::write_file`]), and the recorder that fills it
//! while a program runs ([`history`]). Facts about the format are in the PyTorch snapshot
//! schema; the recorder follows the allocator semantics §9.
//!
//! It refuses: to run code found in a pickle (only builtin types are read), to grow without
//! bound on a hostile file ([`Limits`]), to read the clock, and to print.
#![forbid(unsafe_code)]

mod atomic;
pub mod check;
mod emit;
mod error;
mod file;
pub mod history;
mod json;
mod limits;
mod model;
mod pickle;

pub use atomic::AtomicFile;
pub use error::Error;
pub use file::Format;
pub use history::{History, RecordOptions};
pub use limits::{LimitKind, Limits, MAX_DEPTH, MAX_INLINE_FRAMES};
pub use model::{
    Action, Annotation, Block, BlockState, Frame, FrameId, Id, PoolId, Segment, Snapshot, SnapshotForm,
    StackId, StackImporter, StackTable, StrId, TraceEntry, Value, keys,
};
