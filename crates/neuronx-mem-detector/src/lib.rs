//! Finds use after free, double free and missing stream records in stream-ordered device memory.
//!
//! ```
//! use neuronx_mem_detector::{Access, Detector, DetectorOptions, FindingKind, NewBlock};
//!
//! let mut detector = Detector::<&str>::new(0, DetectorOptions::default());
//! let block = NewBlock { key: 1, address: 4096, extent_bytes: 256, requested_bytes: 200, stream: 0 };
//! detector.allocated(&block, Some("model.py:7"));
//! // Stream 1 uses the block in its work number 3, and nobody records the stream.
//! let access = Access { address: 4096, bytes: 200, stream: 1, ticket: 3 };
//! assert_eq!(detector.used(&access, Some("model.py:8")), None);
//! let findings = detector.free_requested(1, Some("model.py:9"));
//! assert!(matches!(findings[0].kind, FindingKind::UnrecordedStream { stream: 1, ticket: 3, .. }));
//! ```
//!
//! A shadow of the allocator's blocks: who allocated and freed each, where, and which streams used it
//! in between. It is told what happens and says what is wrong with it. It touches no memory, takes no
//! lock, captures no stack and reads no clock: the same calls give the same findings. Whether two
//! streams are ordered it takes from what the program asked for (records, waits, synchronisation),
//! never from how far the work happened to have come.
//!
//! Follows the guidelines for memory management ("Asynchronous allocations/deallocations") and
//! allocator semantics §5.

#![forbid(unsafe_code)]

mod block;
mod detector;
mod finding;
mod log;
mod options;
mod order;
mod quarantine;
mod ranges;
mod report;
mod stack;

pub use block::{Access, NewBlock, Poisoned};
pub use detector::Detector;
pub use finding::{BlockFacts, Finding, FindingKind};
pub use options::{DetectorOptions, POISON};
pub use quarantine::Quarantine;
pub use stack::{CallStack, StackFrame};
