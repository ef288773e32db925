//! Everything that is wrong with an environment.
//!
//! Knows the order of the remarks: names, then values in the order of the registry, then pairs.
//! Refuses to warn, print or stop: the findings are for the caller.

mod names;
mod pair;
mod rules;

pub use pair::PairRule;

use super::finding::EnvFinding;
use super::snapshot::Environment;
use super::variable::Variable;

/// Returns a finding for each unknown or old name, bad value and pair that does not go together.
///
/// Cost: one pass over the texts; at most 64 unknown names are compared with the known ones, and
/// each list or allocator text has at most 64 findings about single items.
///
/// ```
/// use neuronx_mem_config::{Environment, lint};
///
/// let environment = Environment::from_pairs([
///     ("TORCH_NEURONX_ENABLE_HOST_CC", "1"),
///     ("TORCH_NEURONX_ENABLE_STREAMS", "0"),
///     ("NEURON_NUMA_PINS", "0"),
/// ]);
/// let messages: Vec<_> = lint(&environment).iter().map(ToString::to_string).collect();
/// assert_eq!(messages, [
///     "unknown variable `NEURON_NUMA_PINS`; did you mean `NEURON_NUMA_PIN`?",
///     "TORCH_NEURONX_ENABLE_HOST_CC is on while TORCH_NEURONX_ENABLE_STREAMS is off: \
///      collectives have no other stream to run on",
/// ]);
/// ```
pub fn lint(environment: &Environment) -> Vec<EnvFinding> {
    let mut findings = names::check(environment);
    findings.extend(Variable::all().flat_map(|variable| environment.read(variable).findings));
    findings.extend(pair_findings(environment));
    findings
}

/// Returns the findings about pairs only.
pub(super) fn pair_findings(environment: &Environment) -> impl Iterator<Item = EnvFinding> {
    let rules = PairRule::ALL.into_iter().filter(|rule| rule.is_violated(environment));
    rules.map(EnvFinding::Pair)
}
