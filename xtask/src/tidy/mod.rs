//! `cargo xtask tidy`: the house rules that rustc and clippy cannot check.
//!
//! Knows which rule looks at which file. A rule is a function over a path and a text that returns
//! findings; it reads nothing from disk, so every rule is tested on a few lines of input.

mod arrows;
mod files;
mod finding;
mod manifest;
mod readme;
mod source;
#[cfg(test)]
mod tests;
mod text;
mod unsafe_blocks;

use self::files::File;
use self::finding::Finding;
use crate::failure::{Failure, expect_no_arguments};
use crate::workspace::{Member, Workspace};

/// One line for the table of commands.
pub(crate) const SUMMARY: &str = "house rules: floors, file length, module pages, manifests";

/// The text of `cargo xtask tidy --help`.
pub(crate) const HELP: &str = "\
Usage: cargo xtask tidy

Checks every tracked and every new file, one finding a line as `path:line: message`:
  floors      a crate depends only on lower floors; dev-dependencies never point up
  manifests   folder named like the package; lints and package fields inherited
  unsafe      the crates without system calls forbid unsafe code; elsewhere each block has its
              proof, and xtask/unsafe-blocks.txt their numbers
  sources     a module page first; at most 400 lines without tests, 60 in a lib.rs, or a line
              `//! Long because: ...`; no ignored test, expected panic, sleep or unfinished code
  texts       no path of one machine, no trailing blank, a newline at the end
  snapshots   none that waits for a review
  README      every published crate stands in the table
";

/// Runs the command.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    expect_no_arguments("tidy", arguments)?;
    let workspace = Workspace::load()?;
    let files = files::list(workspace.root())?;
    let findings = check(workspace.members(), &files);
    for finding in &findings {
        println!("{finding}");
    }
    eprintln!("tidy: {} files, {} finding(s)", files.len(), findings.len());
    if findings.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

/// Every finding in the tree, sorted by path and line.
fn check(members: &[Member], files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        findings.extend(text::check(file));
        if file.has_extension("rs") {
            findings.extend(source::check(file));
        }
    }
    for member in members {
        let manifest = files::find(files, &member.manifest());
        findings.extend(arrows::check(member, members, &manifest));
        findings.extend(manifest::check(member, &manifest));
        for root in manifest::crate_roots(member) {
            findings.extend(manifest::check_unsafe(member, &files::find(files, root)));
        }
    }
    findings.extend(unsafe_blocks::check(files, &files::find(files, unsafe_blocks::COUNTS)));
    if let Some(readme) = files.iter().find(|file| file.path == "README.md") {
        findings.extend(readme::check(members, readme));
    }
    findings.sort();
    findings.dedup();
    findings
}
