//! Unit tests of the allocator keys, one file per mechanism.

mod combination;
mod config;
mod environment;
mod key;
mod laws;
mod limits;
mod nearest;
mod parse;
mod print;
mod round;
#[cfg(feature = "serde")]
mod serialize;
mod value;

use super::{AllocatorConfig, ConfigKey};

/// A configuration made in code from items that must all be valid.
#[track_caller]
fn config(items: &[(ConfigKey, u64)]) -> AllocatorConfig {
    items.iter().fold(AllocatorConfig::default(), |config, &(key, value)| {
        config.with(key, value).expect("the test gives valid values")
    })
}

/// The findings about a text as `severity kind position message`, one a line.
fn lines(text: &str) -> String {
    let findings = AllocatorConfig::parse(text).findings;
    let lines = findings.iter().map(|finding| {
        let position =
            finding.position().map_or("-".to_owned(), |range| format!("{}..{}", range.start, range.end));
        format!("{:?} {} {position} {finding}", finding.severity(), finding.kind())
    });
    lines.collect::<Vec<_>>().join("\n")
}
