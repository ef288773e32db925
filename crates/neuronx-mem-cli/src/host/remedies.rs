//! What helps, as text and as JSON.

use std::fmt::Write;

use neuronx_mem_host::Remedy;
use serde::Serialize;

/// A numbered list, with commands to copy. Empty without remedies.
pub(super) fn text(remedies: &[Remedy]) -> String {
    let mut text = String::new();
    for (remedy, number) in remedies.iter().zip(1..) {
        // Writing to a String does not fail.
        let _ = writeln!(text, "{number}. {}: {}", remedy.kind.title(), remedy.effect);
        for command in &remedy.commands {
            let _ = writeln!(text, "       {command}");
        }
        let _ = writeln!(text, "     cost: {}", remedy.cost);
        let _ = writeln!(text, "     risk: {}", remedy.risk);
    }
    text
}

#[derive(Serialize)]
pub(super) struct RemedyObject {
    kind: &'static str,
    commands: Vec<String>,
    effect: String,
    cost: &'static str,
    risk: &'static str,
}

impl RemedyObject {
    pub(super) fn of(remedy: &Remedy) -> Self {
        Self {
            kind: remedy.kind.name(),
            commands: remedy.commands.clone(),
            effect: remedy.effect.clone(),
            cost: remedy.cost,
            risk: remedy.risk,
        }
    }
}
