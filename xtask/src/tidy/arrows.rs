//! Floors: no arrow points up.
//!
//! Knows the floor of every package and the dependencies that its manifest declares. Says nothing
//! of packages from outside the workspace; `deny.toml` does.

use super::files::File;
use super::finding::Finding;
use super::manifest::dependency_line;
use crate::floors::{SHARED_TOOL, floor_of};
use crate::workspace::{Dependency, DependencyKind, Member};

/// The package of the scenarios, which any crate's tests may use.
const SCENARIOS: &str = "neuronx-mem-tests";

/// Checks the place of one crate and its arrows to other members.
pub(super) fn check(member: &Member, members: &[Member], manifest: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(folder) = member.folder.strip_prefix("crates/")
        && folder != member.name
    {
        findings.push(Finding::new(
            &manifest.path,
            dependency_line(&manifest.text, "name"),
            format!("the folder `{folder}` is not named like the package `{}`", member.name),
        ));
    }
    let Some(floor) = floor_of(&member.name) else {
        findings.push(Finding::new(
            &manifest.path,
            1,
            format!("`{}` has no floor; give it one in xtask/src/floors.rs", member.name),
        ));
        return findings;
    };
    let inside = |dependency: &&Dependency| members.iter().any(|one| one.name == dependency.package);
    for dependency in member.dependencies.iter().filter(inside) {
        if let Some(message) = wrong_arrow(&member.name, floor, dependency) {
            findings.push(Finding::new(
                &manifest.path,
                dependency_line(&manifest.text, &dependency.package),
                message,
            ));
        }
    }
    findings
}

/// What is wrong with one dependency, if anything.
///
/// A dependency without a floor is reported at its own manifest.
fn wrong_arrow(package: &str, floor: u8, dependency: &Dependency) -> Option<String> {
    let target = &dependency.package;
    let target_floor = floor_of(target)?;
    if dependency.kind == DependencyKind::Dev {
        let is_upward = target_floor > floor && target != SCENARIOS;
        return is_upward.then(|| {
            format!(
                "the tests of `{package}` (floor {floor}) use `{target}` from above (floor {target_floor})"
            )
        });
    }
    if target_floor < floor || (target_floor == floor && target == SHARED_TOOL) {
        return None;
    }
    if floor == 1 {
        return Some(format!("`{package}` is a leaf and may use no crate of the workspace, not `{target}`"));
    }
    Some(format!(
        "`{package}` (floor {floor}) may use lower floors only, `{target}` is on floor {target_floor}"
    ))
}
