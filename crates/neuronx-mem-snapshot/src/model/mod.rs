//! The model of a snapshot: plain records whose texts and stacks are numbers into one table.
//! Knows the keys of the PyTorch snapshot schema; refuses to know any file format.

mod action;
mod annotation;
mod block;
mod compare;
mod core;
mod entry;
mod frame;
mod ids;
mod import;
mod interner;
mod key;
mod record;
mod segment;
mod snapshot;
mod stack_table;
mod value;

#[cfg(test)]
mod tests;

pub use action::Action;
pub use annotation::Annotation;
pub use block::{Block, BlockState};
pub use entry::TraceEntry;
pub use frame::Frame;
pub use ids::{FrameId, Id, PoolId, StackId, StrId};
pub use import::StackImporter;
pub use key::keys;
pub use segment::Segment;
pub use snapshot::{Snapshot, SnapshotForm};
pub use stack_table::StackTable;
pub use value::Value;

pub(crate) use self::core::Fields;
pub(crate) use frame::FrameRecord;
pub(crate) use ids::{ExtrasId, OrderId};
pub(crate) use key::{FIXED_TEXTS, KNOWN_KEYS, Key};
pub(crate) use record::{FieldValue, KeyTracker, Record, RecordBuilder, Schema, Slot, ValueType};
