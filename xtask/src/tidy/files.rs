//! The files that belong to the project, and their texts.
//!
//! Knows `git ls-files`, and a walk of the tree for a checkout without git. Binary files keep their
//! path and lose their content: only their names are checked.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// One file of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    /// The path below the workspace root, with `/` between its parts.
    pub(super) path: String,
    /// The text; empty for a binary file.
    pub(super) text: String,
}

impl File {
    /// True when the path ends in a dot and this extension.
    pub(super) fn has_extension(&self, extension: &str) -> bool {
        self.name().rsplit_once('.').is_some_and(|(_, own)| own == extension)
    }

    /// The last part of the path.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// True for test code by its place: a `tests.rs`, or anything below a folder `tests`.
    pub(super) fn is_test(&self) -> bool {
        self.name() == "tests.rs" || self.path.split('/').rev().skip(1).any(|part| part == "tests")
    }

    /// The lines with their numbers from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(idx, line)| (idx + 1, line))
    }
}

/// Tracked files and new files that are not ignored, sorted by path.
pub(super) fn list(root: &Path) -> Result<Vec<File>, Failure> {
    let mut paths = match tracked(root) {
        Some(paths) => paths,
        None => walk(root)?,
    };
    paths.sort();
    paths.dedup();
    paths.into_iter().filter_map(|path| read(root, path).transpose()).collect()
}

/// The file of this path; an empty one when it is not in the list, so that rules report its lack.
pub(super) fn find(files: &[File], path: &str) -> File {
    let found = files.iter().find(|file| file.path == path).cloned();
    found.unwrap_or_else(|| File { path: path.to_owned(), text: String::new() })
}

/// `None` outside a git checkout, or without git.
fn tracked(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .current_dir(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let names = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| names.split_terminator('\0').map(str::to_owned).collect())
}

/// Every file below the root, without build output and version control.
fn walk(root: &Path) -> Result<Vec<String>, Failure> {
    let mut paths = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(root.join(&folder)).map_err(|error| unreadable(&folder, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&folder, &error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type().map_err(|error| unreadable(&name, &error))?;
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            if kind.is_file() {
                paths.push(path);
            } else if kind.is_dir() && name != "target" && name != ".git" {
                folders.push(path);
            }
        }
    }
    Ok(paths)
}

/// `None` for what git lists and the disk does not hold as a file: deleted files, links, submodules.
fn read(root: &Path, path: String) -> Result<Option<File>, Failure> {
    let place = root.join(&path);
    if !fs::symlink_metadata(&place).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(None);
    }
    let bytes = fs::read(&place).map_err(|error| unreadable(&path, &error))?;
    let text = if bytes.contains(&0) { String::new() } else { String::from_utf8_lossy(&bytes).into_owned() };
    Ok(Some(File { path, text }))
}

fn unreadable(path: &str, error: &std::io::Error) -> Failure {
    Failure::Broken(format!("cannot read `{path}`: {error}"))
}
