//! Every variable with its effective value.
//!
//! Knows the columns. Refuses to lay them out: that is for the program that shows them.

use super::finding::EnvFinding;
use super::kind::Kind;
use super::lint::pair_findings;
use super::snapshot::Environment;
use super::variable::{Group, Page, Variable};
use crate::AllocatorConfig;

/// One variable in one environment, as texts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct EnvRow {
    /// The name.
    pub name: &'static str,
    /// What it is about.
    pub group: Group,
    /// The page that describes it.
    pub page: Page,
    /// The type in one word, as [`Kind::name`].
    pub kind: &'static str,
    /// The default: a text, or a rule in words.
    pub default: String,
    /// The effective value in one line, at most 1024 characters; empty when none is known.
    pub value: String,
    /// Where it came from, as [`Origin`](super::Origin) prints it.
    pub source: String,
    /// The packages that act on it; empty for "recorded only".
    pub honoured_by: &'static [&'static str],
    /// What is wrong with it: its text first, then its neighbours.
    pub problems: Vec<EnvFinding>,
}

/// Returns a row for each variable, in the order of [`Variable::all`].
///
/// ```
/// use neuronx_mem_config::{Environment, table};
///
/// let environment = Environment::from_pairs([("TORCH_NEURONX_LOG_LEVEL", "9")]);
/// let rows = table(&environment);
/// let row = rows.iter().find(|row| row.name == "TORCH_NEURONX_LOG_LEVEL").unwrap();
/// assert_eq!((row.value.as_str(), row.source.as_str()), ("1", "invalid"));
/// assert_eq!(
///     row.problems[0].to_string(),
///     "TORCH_NEURONX_LOG_LEVEL: `9` is not in 0 to 3; the default 1 holds",
/// );
/// ```
pub fn table(environment: &Environment) -> Vec<EnvRow> {
    let pairs: Vec<_> = pair_findings(environment).collect();
    Variable::all().map(|variable| row(environment, variable, &pairs)).collect()
}

fn row(environment: &Environment, variable: Variable, pairs: &[EnvFinding]) -> EnvRow {
    let reading = environment.read(variable);
    let mut problems = reading.findings;
    let own_pairs = pairs.iter().filter(|finding| finding.variable() == Some(variable.name()));
    problems.extend(own_pairs.cloned());
    let value = match (variable.kind(), environment.raw(variable)) {
        (Kind::AllocatorKeys, Some(text)) => AllocatorConfig::parse_os(text).config.to_env_string(),
        _ => reading.value.to_string(),
    };
    EnvRow {
        name: variable.name(),
        group: variable.group(),
        page: variable.page(),
        kind: variable.kind().name(),
        default: variable.default_value().to_string(),
        value,
        source: reading.origin.to_string(),
        honoured_by: variable.honoured_by(),
        problems,
    }
}
