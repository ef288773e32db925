//! Configuration of the Neuron caching allocator: its eleven keys, read, checked and printed.
//!
//! ```
//! use neuronx_mem_config::AllocatorConfig;
//!
//! let parsed = AllocatorConfig::parse("kMaxSplitSizeBytes=536870912,kPoolBoundary=1MB");
//! assert_eq!(parsed.config.max_split_bytes(), 536_870_912);
//! assert_eq!(parsed.config.pool_boundary_bytes(), 1_048_576); // the default is kept
//! assert_eq!(
//!     parsed.findings[0].to_string(),
//!     "kPoolBoundary: `1MB` is ignored because sizes are plain bytes without a suffix; \
//!      1048576 was probably meant",
//! );
//! ```
//!
//! The crate knows the keys of the environment variables reference, their defaults, the format of
//! `TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG` and which combinations of values hurt
//! (allocator semantics §4). [`AllocatorConfig`] is the validated result, [`Finding`] is one remark
//! about a text, [`ConfigKey`] is one key.
//!
//! It refuses to fail on a text: a bad item is a finding, and the rest stands. It refuses to
//! allocate, to place and to keep global state: [`AllocatorConfig::from_env`] is the only function
//! that looks outside its arguments. It uses no other crate of the workspace.

#![forbid(unsafe_code)]

mod allocator;
mod error;

#[doc(hidden)]
pub use allocator::round_size;
pub use allocator::{
    ALLOCATOR_CONFIG_VARIABLE, AllocatorConfig, Combination, ConfigKey, DefaultRule, Finding, KeyKind,
    MAX_ITEM_FINDINGS, Parsed, Severity, Source, ValidRange, combinations,
};
pub use error::ConfigError;
