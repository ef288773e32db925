//! Unit tests of the registry and of everything that reads by it, one file for each mechanism.

mod laws;
mod markdown;
mod names;
mod pairs;
mod process;
mod read;
mod registry;
#[cfg(feature = "serde")]
mod serialize;
mod table;
mod transcript;

use crate::{EnvFinding, Environment};

/// An environment of `NAME=text` lines.
fn environment(lines: &[&str]) -> Environment {
    Environment::from_pairs(lines.iter().map(|line| line.split_once('=').expect("the test gives NAME=text")))
}

/// Findings as `severity kind variable: message`, one a line.
fn lines(findings: &[EnvFinding]) -> String {
    let lines = findings.iter().map(|finding| {
        let variable = finding.variable().unwrap_or("-");
        format!("{} {} {variable}: {finding}", finding.severity(), finding.kind())
    });
    lines.collect::<Vec<_>>().join("\n")
}
