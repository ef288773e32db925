//! What can go wrong on a device, a file a mechanism. A plan says what, an injector does it to
//! one device; without a plan nothing here changes an answer.

mod counters;
mod failures;
mod growth;
mod holding;
mod injector;
mod lifecycle;
mod neighbour;
mod overflow;
mod pattern;
mod placement;
mod plan;
mod random;
mod seed;
mod slow_frees;
mod text;
mod work;

pub use counters::FaultCounters;
pub use growth::ModelHandle;
pub(crate) use injector::Injector;
pub(crate) use lifecycle::Lifecycle;
pub(crate) use pattern::Moment;
pub use pattern::{CallPattern, FaultSpan};
pub use plan::FaultPlan;
pub use work::{CompletedWork, SimulatedWork, WorkHandle, WorkState};
