//! What the runtime, the driver and the kernel write when memory runs out, as typed events.
//!
//! Tolerant: unknown lines, prefixes of any logger and cut tables are fine; a line counts by the words in
//! it. The parser says what was written; [`Explanation`] puts together what belongs to one failure.

mod category;
mod event;
mod explanation;
mod incident;
mod line;
mod log;
mod size;
mod table;

pub use category::UsageCategory;
pub use event::{EventKind, LogEvent, MemoryKind, Place};
pub use explanation::Explanation;
pub use incident::Incident;
pub use log::read_log;
pub use table::{UsageRow, UsageScope, UsageTable};

#[cfg(test)]
mod tests;
