//! Every text file: no path of one machine, no trailing blank, no snapshot that waits for review.
//!
//! The patterns are put together from parts, because this file is checked too.

use super::files::File;
use super::finding::Finding;

/// Folders in which a person's or a machine's own files live: the folder, and whether a name follows.
const MACHINE_FOLDERS: &[(&str, bool)] = &[
    (concat!("/", "home/"), true),
    (concat!("/", "Users/"), true),
    (concat!("/", "root/"), false),
    (concat!("/", "work/"), false),
];

/// A folder beside the checkout.
const OUTSIDE: &str = concat!("../", "shared");

/// What the snapshot tool leaves for a review.
const PENDING: &[&str] = &[".snap.new", ".pending-snap"];

/// Files whose blanks are checked.
const SPACED: &[&str] = &["rs", "toml", "md"];

/// Checks one file.
pub(super) fn check(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(pending_snapshot(file));
    findings.extend(outside_paths(file));
    if SPACED.iter().any(|extension| file.has_extension(extension)) {
        findings.extend(blanks(file));
    }
    findings
}

fn pending_snapshot(file: &File) -> Option<Finding> {
    let is_pending = PENDING.iter().any(|ending| file.name().ends_with(ending));
    is_pending
        .then(|| Finding::new(&file.path, 1, "a snapshot that waits for review: accept it or take it out"))
}

fn outside_paths(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in file.lines() {
        if let Some(path) = MACHINE_FOLDERS.iter().find_map(|folder| machine_path(line, folder)) {
            findings.push(Finding::new(&file.path, number, format!("`{path}` is a path of one machine")));
        }
        if line.contains(OUTSIDE) {
            findings.push(Finding::new(&file.path, number, format!("`{OUTSIDE}` is outside of the project")));
        }
    }
    findings
}

/// The first path below the folder that this line holds, up to the folder's own name.
fn machine_path(line: &str, (folder, has_name): &(&str, bool)) -> Option<String> {
    line.match_indices(folder).find_map(|(start, _)| {
        if line[..start].ends_with(continues_path) {
            return None;
        }
        if !has_name {
            return Some((*folder).to_owned());
        }
        let rest = &line[start + folder.len()..];
        let (name, _) = rest.split_once('/')?;
        let is_name =
            !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || "._-".contains(letter));
        is_name.then(|| format!("{folder}{name}/"))
    })
}

/// True for what stands before a slash inside a relative path, a web address or a pattern.
fn continues_path(letter: char) -> bool {
    letter.is_alphanumeric() || "._-~$}>)*]".contains(letter)
}

fn blanks(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    // Not `lines()`, which would hide a carriage return.
    for (idx, line) in file.text.split('\n').enumerate() {
        if line.ends_with([' ', '\t', '\r']) {
            findings.push(Finding::new(&file.path, idx + 1, "a blank at the end of the line"));
        }
    }
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        findings.push(Finding::new(
            &file.path,
            file.text.lines().count(),
            "no newline at the end of the file",
        ));
    }
    findings
}
