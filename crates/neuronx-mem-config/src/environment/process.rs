//! The environment of this process, remembered from the first look on.
//!
//! Knows one snapshot for the whole process. Refuses to replace it: a variable that is set later
//! comes too late, and that can be asked.

use std::sync::OnceLock;

use super::finding::EnvFinding;
use super::snapshot::Environment;
use super::variable::Variable;
use crate::allocator::quote;

static PROCESS: OnceLock<Environment> = OnceLock::new();

impl Environment {
    /// Returns the snapshot of this process, taken at the first call.
    ///
    /// Everything that the pages read once for each process is read from here, so that all parts of
    /// a program see the same values whatever changes later.
    pub fn process() -> &'static Self {
        PROCESS.get_or_init(Self::capture)
    }

    /// Returns a finding for each variable of the registry whose text in a later environment differs
    /// from the one here, in the order of the registry.
    ///
    /// ```
    /// use neuronx_mem_config::Environment;
    ///
    /// let late = Environment::from_pairs([("NEURON_NUMA_PIN", "0")]);
    /// let findings = Environment::default().changes(&late);
    /// assert_eq!(
    ///     findings[0].to_string(),
    ///     "NEURON_NUMA_PIN changed from unset to `0` after it was read; it counts after a restart",
    /// );
    /// ```
    pub fn changes(&self, later: &Self) -> Vec<EnvFinding> {
        let changed = Variable::all().filter(|&variable| self.raw(variable) != later.raw(variable));
        changed.map(|variable| self.change(later, variable)).collect()
    }

    fn change(&self, later: &Self, variable: Variable) -> EnvFinding {
        let quoted = |environment: &Self| Some(quote(&environment.raw(variable)?.to_string_lossy()));
        EnvFinding::SetTooLate { variable: variable.name(), read: quoted(self), now: quoted(later) }
    }
}

/// Returns what changed since [`Environment::process`] was first called; empty before that.
///
/// Each finding is a variable that somebody set, changed or took away too late to count.
pub fn changed_since_capture() -> Vec<EnvFinding> {
    match PROCESS.get() {
        Some(captured) => captured.changes(&Environment::capture()),
        None => Vec::new(),
    }
}
