//! What if: which allocator settings would have served a recorded run best, how little memory it could
//! do with, whether it keeps to a budget, and which few events show a problem.
//!
//! A [`Workload`] is a trace made ready for many passes; [`evaluate`] runs it under one configuration and
//! equals a replay to the byte. [`tune`] searches the eleven keys and [`explain`]s what it found;
//! sweeps run on this machine ([`LocalSweep`]) or as serialisable [`Job`]s anywhere. [`plan()`] packs a
//! trace offline, [`measure`] and [`check_budget`] keep a run to limits, [`shrink`] makes it small.
//!
//! Start with [`tune`] for a setting, [`plan()`] for what is left to gain, [`measure`] for CI. How the
//! search works and what its answers mean is told in `docs/tuning.md`.
//!
//! The crate prints nothing and reads no environment; only time budgets look at a clock.
#![forbid(unsafe_code)]
mod budget;
mod error;
mod plan;
mod search;
mod shrink;
mod sweep;
mod workload;
pub use budget::{
    Budget, BudgetFault, Checked, Figure, Limit, Measured, Scope, check_budget, measure,
    observed_reserved_peak,
};
pub use error::TuneError;
pub use plan::{Deviation, FollowedPlan, PlacedTensor, Plan, PlanOptions, follow, plan};
pub use search::{
    HeldOut, InputTuning, Phase, Pick, TuneOptions, TuneProgress, Tuning, Validation, explain, tune,
};
pub use shrink::{Effect, EffectFault, Measure, Shrunk, Sizes, shrink};
pub use sweep::{
    Evaluate, Evaluation, Figures, Job, JobFault, JobMachine, JobResult, JobRound, LocalSweep, Machine,
    Trial, Variant, Verdict, evaluate,
};
pub use workload::Workload;
