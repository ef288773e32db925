//! Groups of variables as typed settings.
//!
//! Knows which variables belong together and what their values mean to a program. Each object is
//! read from an [`Environment`](crate::Environment) beside the findings about its own variables.
//! Refuses to act: no directory is made and nothing is recorded here.

mod artifacts;
mod cache;
mod collect;
mod cores;
mod int64;
mod log_level;
mod metrics;
mod profiling;
mod switches;

#[cfg(test)]
mod tests;

pub use artifacts::{ArtifactLayout, CompilationLayout, JobLayout};
pub use cache::CacheSettings;
pub use cores::CoreSet;
pub use int64::{Int64Mode, Int64Settings};
pub use log_level::LogLevel;
pub use metrics::{MetricTable, MetricsSettings};
pub use profiling::{ProfileMode, ProfilingDefaults};
pub use switches::RuntimeSwitches;
