//! Allocation traces: read, replay through the allocator, compare configurations.
//!
//! ```
//! use neuronx_mem_replay::{Replay, ReplayOptions, TraceReader};
//!
//! let text = "# name: two tensors\na,1,4194304,0\na,2,8388608,0\nf,1\ns\n";
//! let trace = TraceReader::new(text.as_bytes(), "example");
//! let outcome = Replay::new(ReplayOptions::default()).run(trace)?;
//! assert_eq!(outcome.report.allocated_peak_bytes, 12_582_912);
//! assert_eq!(outcome.report.reserved_peak_bytes, 67_108_864);
//! assert_eq!(outcome.device.memory_allocated(), 8_388_608);
//! # Ok::<(), neuronx_mem_replay::ReplayError>(())
//! ```
//!
//! A trace is text, one event a line, plain or compressed; it is read as a stream and never held
//! as a whole unless a [`Trace`] is asked for. A [`Replay`] drives the real allocator over a
//! simulated device, so the same trace and options give the same figures on every machine.
//! [`compare`] does so once a configuration.
//!
//! A memory snapshot is an input too: [`HistoryEvents`] turns its history into a trace, a
//! [`Replay`] records one, and [`write_perfetto`] draws it on a timeline.
//!
//! The crate decides nothing about placement, prints nothing and analyses nothing: it hands the
//! device to whoever does.

#![forbid(unsafe_code)]

mod compare;
mod error;
mod history;
mod input;
mod perfetto;
mod replay;
mod site;
mod trace;

pub use compare::{Comparison, best_of, compare};
pub use error::ReplayError;
pub use history::{HistoryChange, HistoryEvents, HistoryMark, HistoryStep, HistorySteps};
pub use input::{Input, ReadOptions};
pub use perfetto::write_perfetto;
pub use replay::{
    Analysed, Outcome, Progress, Recorded, Replay, ReplayOptions, ReplayReport, TraceOutOfMemory,
};
pub use site::{SiteFrame, SiteId, Sites};
pub use trace::{
    Compression, Event, EventSource, Fault, FaultKind, Header, LiveIds, MAX_HEADERS, MAX_LINE_BYTES,
    OpenedInput, OpenedTrace, Skipped, Trace, TraceEvents, TraceInput, TraceLine, TraceReader, TraceWriter,
    write_trace,
};
