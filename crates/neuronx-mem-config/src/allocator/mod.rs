//! The keys of `TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG` and the configuration that they make.
//!
//! Knows the eleven keys and the text format (environment variables reference; allocator semantics
//! §4). Refuses to know any other environment variable.

mod combination;
mod config;
mod defaults;
mod environment;
mod finding;
mod hash;
mod key;
mod nearest;
mod parse;
mod piece;
mod print;
mod quote;
mod round;
#[cfg(feature = "serde")]
mod serialize;
mod source;
mod specification;
mod value;

#[cfg(test)]
mod tests;

pub use combination::{Combination, combinations};
pub use config::AllocatorConfig;
pub use environment::ALLOCATOR_CONFIG_VARIABLE;
pub use finding::{Finding, Severity};
pub use key::ConfigKey;
pub(crate) use nearest::{CHARS_PER_EDIT, MAX_COMPARED, edit_distance, significant};
pub use parse::{MAX_ITEM_FINDINGS, Parsed};
pub(crate) use quote::{quote, quote_up_to};
pub use round::round_size;
pub use source::Source;
pub use specification::{DefaultRule, KeyKind, ValidRange};
