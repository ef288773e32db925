//! x
#![forbid(unsafe_code)]
mod error;
mod plan;
mod search;
mod sweep;
mod workload;
mod budget { #[derive(Debug, thiserror::Error)] #[error("x")] pub struct BudgetFault; }
mod shrink;
pub use error::TuneError;
pub use plan::{Deviation, FollowedPlan, PlacedTensor, Plan, PlanOptions, follow, plan};
pub use search::{HeldOut, InputTuning, Phase, Pick, TuneOptions, TuneProgress, Tuning, Validation, explain, tune};
pub use shrink::{Effect, EffectFault, Measure, Shrunk, shrink};
pub use sweep::{Evaluate, Evaluation, Figures, Job, JobFault, JobMachine, JobResult, JobRound, LocalSweep, Machine, Trial, Variant, Verdict, evaluate};
pub use workload::Workload;
