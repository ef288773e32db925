//! Names that no page has.
//!
//! Knows which names claim to be Neuron's. Refuses to report a name that others read.

use crate::MAX_ITEM_FINDINGS;
use crate::allocator::quote;

use super::super::elsewhere::{is_known_elsewhere, renamed};
use super::super::finding::EnvFinding;
use super::super::snapshot::Environment;
use super::super::suggestion::nearest_name;
use super::super::variable::Variable;

/// Names with such a start belong to Neuron, so an unknown one is reported even if nothing is near.
const CLAIMS: [&str; 2] = ["TORCH_NEURONX_", "NEURON_"];

/// Names that are kept for the facts in them.
const FACTS: [&str; 2] = ["LOGNAME", "USER"];

/// Returns a finding for each old or unknown name, in order of the names.
pub(super) fn check(environment: &Environment) -> Vec<EnvFinding> {
    let mut findings = Vec::new();
    let mut unread = 0;
    for name in environment.names() {
        let name = name.to_string_lossy();
        if is_known(&name) {
            continue;
        }
        if findings.len() == MAX_ITEM_FINDINGS {
            unread += usize::from(claims(&name));
            continue;
        }
        findings.extend(unknown(&name));
    }
    if unread > 0 {
        findings.push(EnvFinding::MoreNames { count: unread });
    }
    findings
}

fn is_known(name: &str) -> bool {
    FACTS.contains(&name) || Variable::by_name(name).is_some() || is_known_elsewhere(name)
}

fn claims(name: &str) -> bool {
    CLAIMS.iter().any(|start| name.starts_with(start))
}

fn unknown(name: &str) -> Option<EnvFinding> {
    if let Some((old, variable)) = renamed(name) {
        return Some(EnvFinding::Renamed { old, variable });
    }
    let nearest = nearest_name(name);
    let is_reported = nearest.is_some() || claims(name);
    is_reported.then(|| EnvFinding::UnknownName { text: quote(name), nearest })
}
