//! Environment variables as data: the registry, a snapshot of their values, and what is wrong with them.
//!
//! Knows every variable of the environment variables reference, those of the guidelines for memory
//! management, and the runtime variables that move device memory. Refuses to set, to correct or to
//! obey a variable: the crates that are named in the registry do what it asks for.

mod default;
mod elsewhere;
mod finding;
mod kind;
mod lint;
mod markdown;
mod parse;
mod problem;
mod process;
mod read;
mod reading;
#[cfg(feature = "serde")]
mod serialize;
mod snapshot;
mod suggestion;
mod table;
mod value;
mod variable;
pub mod variables;

#[cfg(test)]
mod tests;

pub use default::{DefaultValue, Dependence};
pub use finding::EnvFinding;
pub use kind::{BoolRule, IntRange, Items, Kind};
pub use lint::{PairRule, lint};
pub use markdown::markdown;
pub(crate) use parse::{item_range, items};
pub use problem::ValueProblem;
pub use process::changed_since_capture;
pub use reading::{Origin, Reading};
pub use snapshot::Environment;
pub use table::{EnvRow, table};
pub use value::Value;
pub use variable::{Group, Page, Variable};
