//! Measured against allowed.

use super::{Budget, Limit, Measured};

/// One limit and what was found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Checked {
    /// The limit.
    pub limit: Limit,
    /// What is allowed: the limit and its tolerance.
    pub allowed: f64,
    /// What was found; `None` when the run has no such mark or step.
    pub found: Option<f64>,
}

impl Checked {
    /// Whether the run keeps to it. A figure that the run does not have is not kept.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.found.is_some_and(|found| found <= self.allowed)
    }
}

/// Compares a run with a budget, limit by limit in the order of the file.
#[must_use]
pub fn check_budget(budget: &Budget, measured: &Measured) -> Vec<Checked> {
    let check = |limit: &Limit| Checked {
        allowed: limit.limit + limit.limit.abs() * limit.tolerance_percent / 100.0,
        found: measured.value(&limit.scope, limit.figure),
        limit: limit.clone(),
    };
    budget.limits().iter().map(check).collect()
}
