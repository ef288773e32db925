//! Reading several variables and keeping what is wrong with them.
//!
//! Knows nothing of any variable. Refuses to report one that was not read.

use std::path::PathBuf;

use crate::environment::PairRule;
use crate::{EnvFinding, Environment, Reading, Variable};

/// Reads variables of one environment, and gathers the findings.
pub(super) struct Collector<'a> {
    environment: &'a Environment,
    read: Vec<Variable>,
    findings: Vec<EnvFinding>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(environment: &'a Environment) -> Self {
        Self { environment, read: Vec::new(), findings: Vec::new() }
    }

    pub(super) fn bool(&mut self, variable: Variable) -> bool {
        self.keep(variable, self.environment.bool(variable))
    }

    pub(super) fn int(&mut self, variable: Variable) -> u64 {
        self.keep(variable, self.environment.int(variable))
    }

    pub(super) fn text(&mut self, variable: Variable) -> String {
        self.keep(variable, self.environment.text(variable))
    }

    pub(super) fn path(&mut self, variable: Variable) -> PathBuf {
        self.keep(variable, self.environment.path(variable))
    }

    pub(super) fn list(&mut self, variable: Variable) -> Vec<String> {
        self.keep(variable, self.environment.list(variable))
    }

    /// Returns the findings about the variables that were read, pairs of theirs last.
    pub(super) fn finish(mut self) -> Vec<EnvFinding> {
        let rules = PairRule::ALL.into_iter().filter(|rule| self.read.contains(&rule.subject()));
        let violated = rules.filter(|rule| rule.is_violated(self.environment));
        self.findings.extend(violated.map(EnvFinding::Pair));
        self.findings
    }

    fn keep<T>(&mut self, variable: Variable, reading: Reading<T>) -> T {
        self.read.push(variable);
        self.findings.extend(reading.findings);
        reading.value
    }
}
