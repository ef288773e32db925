//! Evaluations: one configuration on one input, many of them in a round, and rounds as jobs that any
//! executor can run.

mod evaluate;
mod figures;
mod job;
mod machine;
mod round;
mod variant;

pub use evaluate::evaluate;
pub use figures::{Figures, Verdict};
pub use job::{Job, JobFault, JobMachine, JobResult, Trial};
pub use machine::Machine;
pub use round::{Evaluate, Evaluation, JobRound, LocalSweep};
pub use variant::Variant;
