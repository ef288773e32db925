//! The README's table of crates: every published crate has a row.
//!
//! Knows a row by the crate's name in backticks between bars. Does not judge the wording.

use super::files::File;
use super::finding::Finding;
use crate::workspace::Member;

/// Checks that no published crate is missing.
pub(super) fn check(members: &[Member], readme: &File) -> Vec<Finding> {
    let rows: Vec<&str> = readme.text.lines().filter(|line| line.trim_start().starts_with('|')).collect();
    let is_missing = |member: &&Member| {
        let name = format!("`{}`", member.name);
        member.is_published && !rows.iter().any(|row| row.contains(&name))
    };
    members
        .iter()
        .filter(is_missing)
        .map(|member| {
            Finding::new(&readme.path, 1, format!("the table of crates has no row for `{}`", member.name))
        })
        .collect()
}
