//! The trace format: events, the lines that carry them, where they are read from and written to.

mod buffer;
mod compression;
mod event;
mod fault;
mod header;
mod input;
mod lines;
mod live;
mod parse;
mod reader;
mod source;
mod varint;
mod write;
mod writer;

#[cfg(test)]
mod tests;

pub use buffer::{Trace, TraceEvents};
pub use event::{Event, TraceLine};
pub use fault::{Fault, FaultKind, Skipped};
pub use header::{Header, MAX_HEADERS};
pub use input::{OpenedInput, OpenedTrace, TraceInput};
pub use lines::MAX_LINE_BYTES;
pub use live::LiveIds;
pub use reader::TraceReader;
pub use source::EventSource;
pub use write::{Compression, write_trace};
pub use writer::TraceWriter;
