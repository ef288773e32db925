//! A trace through the allocator: what drives it, what it is asked for and what comes out.

mod analysis;
mod driver;
mod options;
mod record;
mod report;
mod run;
mod streams;

pub use analysis::Analysed;
pub use options::ReplayOptions;
pub use record::Recorded;
pub use report::{ReplayReport, TraceOutOfMemory};
pub use run::{Outcome, Progress, Replay};
