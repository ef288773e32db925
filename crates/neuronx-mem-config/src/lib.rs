//! Configuration from the environment: the allocator's keys, and every variable around them.
//!
//! ```
//! use neuronx_mem_config::{AllocatorConfig, Environment, lint};
//!
//! let parsed = AllocatorConfig::parse("kMaxSplitSizeBytes=536870912,kPoolBoundary=1MB");
//! assert_eq!(parsed.config.max_split_bytes(), 536_870_912);
//! assert_eq!(parsed.findings[0].to_string(), "kPoolBoundary: `1MB` is ignored because sizes are \
//!     plain bytes without a suffix; 1048576 was probably meant");
//! let environment = Environment::from_pairs([("TORCH_NEURONX_DEBUG_DIRS", "/scratch")]);
//! assert_eq!(lint(&environment)[0].to_string(), "unknown variable `TORCH_NEURONX_DEBUG_DIRS`; \
//!     did you mean `TORCH_NEURONX_DEBUG_DIR`?");
//! ```
//!
//! Three parts: [`AllocatorConfig`] reads the keys of `TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG` and
//! says which of them hurt (allocator semantics §4). [`variables`] is the registry of every variable
//! as data, [`Environment`] a snapshot of their values, [`lint`] and [`table`] what is wrong with it,
//! [`markdown`] the page of all. [`CacheSettings`] and its like are groups of values, typed.
//!
//! The crate refuses to fail on a text: a bad item is a finding, and the rest stands. It refuses to
//! obey a variable: others allocate, compile and log. Only [`AllocatorConfig::from_env`],
//! [`Environment::capture`], [`Environment::process`] and [`changed_since_capture`] look outside
//! their arguments, and only the last two remember. It uses no other crate of the workspace.

#![forbid(unsafe_code)]

mod allocator;
mod environment;
mod error;
mod settings;

#[doc(hidden)]
pub use allocator::round_size;
pub use allocator::{
    ALLOCATOR_CONFIG_VARIABLE, AllocatorConfig, Combination, ConfigKey, DefaultRule, Finding, KeyKind,
    MAX_ITEM_FINDINGS, Parsed, Severity, Source, ValidRange, combinations,
};
pub use environment::{
    BoolRule, DefaultValue, Dependence, EnvFinding, EnvRow, Environment, Group, IntRange, Items, Kind,
    Origin, Page, PairRule, Reading, Value, ValueProblem, Variable, changed_since_capture, lint, markdown,
    table, variables,
};
pub use error::ConfigError;
pub use settings::{
    ArtifactLayout, CacheSettings, CompilationLayout, CoreSet, Int64Mode, Int64Settings, JobLayout, LogLevel,
    MetricTable, MetricsSettings, ProfileMode, ProfilingDefaults, RuntimeSwitches,
};
