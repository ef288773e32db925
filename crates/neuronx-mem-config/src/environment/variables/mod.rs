//! The registry: one documented constant for each variable.
//!
//! Knows what the pages say, in our own words, one file for each group. Refuses to interpret it.
//!
//! ```
//! use neuronx_mem_config::{Environment, variables};
//!
//! let environment = Environment::from_pairs([("TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT", "60")]);
//! let seconds = environment.int(variables::TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT);
//! assert_eq!(seconds.value, 60);
//! ```

use super::default::{DefaultValue, Dependence};
use super::kind::{BoolRule, IntRange, Items, Kind};
use super::variable::{Group, Page, Variable};

/// Writes one constant a row and the table of them; a row's documentation is also its text at run
/// time, so that rustdoc and the generated page cannot differ.
macro_rules! variables {
    ($group:ident; $(
        $(#[doc = $line:literal])+
        $name:ident: $kind:expr, $default_value:expr, $page:ident, $honoured_by:expr;
    )+) => {
        $(
            $(#[doc = $line])+
            pub const $name: Variable = Variable {
                name: stringify!($name),
                kind: $kind,
                default_value: $default_value,
                group: Group::$group,
                page: Page::$page,
                honoured_by: $honoured_by,
                lines: concat!($($line),+),
            };
        )+
        pub(super) const TABLE: &[Variable] = &[$($name),+];
    };
}

mod allocator;
mod backend;
mod cache;
mod distributed;
mod general;
mod host;
mod metrics;
mod profiling;
mod runtime;

pub use allocator::*;
pub use backend::*;
pub use cache::*;
pub use distributed::*;
pub use general::*;
pub use host::*;
pub use metrics::*;
pub use profiling::*;
pub use runtime::*;

/// The largest NeuronCore index that a list may name: beyond any instance, and small enough to hold.
pub(crate) const MAX_CORE_INDEX: u32 = 1023;

/// Every table, in the order of [`Group::ALL`].
pub(super) const TABLES: [&[Variable]; 9] = [
    backend::TABLE,
    cache::TABLE,
    general::TABLE,
    metrics::TABLE,
    profiling::TABLE,
    distributed::TABLE,
    allocator::TABLE,
    host::TABLE,
    runtime::TABLE,
];

const BOOL: Kind = Kind::Bool(BoolRule::Words);
const ON: DefaultValue = DefaultValue::Plain("1");
const OFF: DefaultValue = DefaultValue::Plain("0");

/// Nobody here acts on the variable: it is shown, checked and explained.
const RECORDED: &[&str] = &[];
const FACADE: &[&str] = &["neuronx-mem"];
const CACHE: &[&str] = &["neuronx-mem-cache"];
const INT64: &[&str] = &["neuronx-mem-int64"];
const NUMA: &[&str] = &["neuronx-mem-numa"];

const fn plain(text: &'static str) -> DefaultValue {
    DefaultValue::Plain(text)
}

const fn depends(on: Dependence, assumed: &'static str, rule: &'static str) -> DefaultValue {
    DefaultValue::Depends { on, assumed, rule }
}
