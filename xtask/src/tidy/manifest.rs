//! Manifests: what every crate inherits, and which crates forbid unsafe code.
//!
//! Reads `Cargo.toml` line by line: `cargo metadata` shows the values but not whether they are
//! inherited. Inline tables over several lines are not understood; the workspace has none.

use super::files::File;
use super::finding::Finding;
use crate::workspace::Member;

/// Fields that every package inherits.
const COMMON: &[&str] = &["version", "edition", "rust-version", "license"];

/// Fields that a published package inherits on top.
const PUBLISHED: &[&str] = &["repository", "keywords", "categories"];

/// Crates that talk to the system, each `unsafe` block with its proof. All others forbid it.
const UNSAFE_ALLOWED: &[&str] = &[
    "neuronx-mem-nrt",
    "neuronx-mem-capi",
    "neuronx-mem-numa",
    "neuronx-mem-python",
    "neuronx-mem-cache",
    "neuronx-mem-host",
    // Not of the product: a C library for tests.
    "neuronx-mem-libnrt-standin",
];

/// The package of the scenarios: its library is empty, its tests are crates of their own.
const SCENARIOS: &str = "neuronx-mem-tests";

/// Checks what a manifest inherits from the workspace.
pub(super) fn check(member: &Member, manifest: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let package_line = header_line(&manifest.text, "package");
    let published: &[&str] = if member.is_published { PUBLISHED } else { &[] };
    for field in COMMON.iter().chain(published) {
        if !inherits(&manifest.text, "package", field) {
            findings.push(Finding::new(
                &manifest.path,
                package_line,
                format!("`{field}` is not inherited: write `{field}.workspace = true`"),
            ));
        }
    }
    let lints = entries(&manifest.text, "lints").any(|entry| entry == ("workspace", "true"));
    if !lints && !inherits(&manifest.text, "", "lints") {
        findings.push(Finding::new(
            &manifest.path,
            package_line,
            "lints are not inherited: write `[lints]` and `workspace = true`",
        ));
    }
    findings
}

/// The root files of a crate that must forbid unsafe code; none for a crate that may use it.
pub(super) fn crate_roots(member: &Member) -> impl Iterator<Item = &str> {
    let is_safe = !UNSAFE_ALLOWED.contains(&member.name.as_str()) && member.name != SCENARIOS;
    let roots = member.targets.iter().filter(move |target| is_safe && target.is_product());
    roots.map(|target| target.source.as_str())
}

/// Checks that a crate root forbids unsafe code.
pub(super) fn check_unsafe(member: &Member, root: &File) -> Option<Finding> {
    if root.text.lines().any(|line| line.trim() == "#![forbid(unsafe_code)]") {
        return None;
    }
    let message = format!("`{}` has no system calls: its root says `#![forbid(unsafe_code)]`", member.name);
    Some(Finding::new(&root.path, 1, message))
}

/// The line of a key or of a dependency on this package, 1 when there is none.
pub(super) fn dependency_line(text: &str, package: &str) -> usize {
    let renamed = format!("package = \"{package}\"");
    let names = |line: &str| {
        let line = line.trim();
        let key = line.split(['=', '.', ' ']).next().unwrap_or_default();
        let table = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        key == package
            || line.contains(&renamed)
            || table.is_some_and(|table| table.ends_with(&format!("dependencies.{package}")))
    };
    text.lines().position(names).map_or(1, |idx| idx + 1)
}

/// True for `field.workspace = true` and `field = { workspace = true }` in this table.
fn inherits(text: &str, table: &str, field: &str) -> bool {
    entries(text, table).any(|(key, value)| {
        let is_dotted = key.strip_suffix(".workspace") == Some(field) && value == "true";
        let is_inline = key == field && value.replace(' ', "") == "{workspace=true}";
        is_dotted || is_inline
    })
}

/// Keys and values of one table; the empty name is what stands before the first header.
fn entries<'a>(text: &'a str, table: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let mut current = "";
    text.lines().filter_map(move |line| {
        let line = line.split_once(" #").map_or(line, |(line, _)| line).trim();
        if let Some(header) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            current = header;
            return None;
        }
        let (key, value) = line.split_once('=').filter(|_| current == table)?;
        Some((key.trim(), value.trim()))
    })
}

fn header_line(text: &str, table: &str) -> usize {
    let header = format!("[{table}]");
    text.lines().position(|line| line.trim() == header).map_or(1, |idx| idx + 1)
}
