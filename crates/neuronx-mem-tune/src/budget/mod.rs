//! Memory budgets for CI: figures of a recorded run that do not depend on what a pool held before,
//! limits for them in a file, and the comparison.

mod check;
mod file;
mod measure;
mod observed;

pub use check::{Checked, check_budget};
pub use file::{Budget, BudgetFault, Limit};
pub use measure::{Figure, Measured, Scope, measure};
pub use observed::observed_reserved_peak;
