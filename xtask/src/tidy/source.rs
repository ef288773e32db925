//! Rust sources: a module page first, a bounded length, no unfinished or sleeping code.
//!
//! Works on lines, not on a syntax tree: the patterns are chosen so that a line is enough. The
//! patterns are put together from parts, because these files are checked too.

use super::files::File;
use super::finding::Finding;

/// Lines of a file without its tests.
const MAX_LINES: usize = 400;

/// Lines of a `lib.rs`, which holds a page, modules and re-exports.
const MAX_LIB_LINES: usize = 60;

/// How a module page excuses its length.
const REASON: &str = "//! Long because:";

const TEST_ATTRIBUTE: &str = "#[cfg(test)]";

/// What no file holds, and what to do instead.
const NOWHERE: &[(&str, &str)] = &[
    (concat!("#[", "ignore"), "an ignored test tests nothing: mend it or take it out"),
    (concat!("should_", "panic"), "assert the error value instead of expecting a panic"),
    (concat!("todo", "!("), "unfinished code"),
    (concat!("unimplemented", "!("), "unfinished code"),
];

/// What no test holds, and what to do instead.
const NOT_IN_TESTS: &[(&str, &str)] = &[(
    concat!("thread::", "sleep"),
    "a test that sleeps depends on the machine: use a signal or the virtual clock",
)];

/// Checks one Rust file.
pub(super) fn check(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(opening(file));
    findings.extend(length(file));
    findings.extend(forbidden_code(file));
    findings
}

/// The first line starts the module page: no attribute, licence text or blank comes before it.
fn opening(file: &File) -> Option<Finding> {
    if file.text.starts_with("//!") {
        return None;
    }
    Some(Finding::new(
        &file.path,
        1,
        "the first line is not `//!`: say what the file knows and what it refuses",
    ))
}

fn length(file: &File) -> Option<Finding> {
    if file.is_test() || has_reason(&file.text) {
        return None;
    }
    let limit = if file.name() == "lib.rs" { MAX_LIB_LINES } else { MAX_LINES };
    let n_lines = code_lines(&file.text);
    if n_lines <= limit {
        return None;
    }
    let message =
        format!("{n_lines} lines without tests, {limit} is the limit: split it, or add `{REASON} ...`");
    Some(Finding::new(&file.path, limit + 1, message))
}

/// A reason that says something, in the page at the top of the file.
fn has_reason(text: &str) -> bool {
    text.lines()
        .take_while(|line| line.starts_with("//!"))
        .filter_map(|line| line.strip_prefix(REASON))
        .any(|reason| !reason.trim().is_empty())
}

/// Lines before the test module.
///
/// A declaration such as `mod tests;` does not end the code: it may stand among the other modules.
fn code_lines(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let test_block = first_test_block(&lines);
    let declarations = lines[..test_block].iter().filter(|line| line.starts_with(TEST_ATTRIBUTE)).count();
    test_block - 2 * declarations
}

/// The index of the attribute of the first test item with a body, or the number of lines.
fn first_test_block(lines: &[&str]) -> usize {
    let opens_block = |idx: &usize| {
        let is_declaration = lines.get(idx + 1).is_some_and(|next| next.trim_end().ends_with(';'));
        lines[*idx].starts_with(TEST_ATTRIBUTE) && !is_declaration
    };
    (0..lines.len()).find(opens_block).unwrap_or(lines.len())
}

fn forbidden_code(file: &File) -> Vec<Finding> {
    let lines: Vec<&str> = file.text.lines().collect();
    let first_test_line = if file.is_test() { 1 } else { first_test_block(&lines) + 1 };
    let mut findings = Vec::new();
    for (number, line) in file.lines() {
        if is_comment(line) {
            findings.extend(unrun_example(file, number, line));
            continue;
        }
        let in_tests = if number >= first_test_line { NOT_IN_TESTS } else { &[] };
        for (pattern, message) in NOWHERE.iter().chain(in_tests) {
            if line.contains(pattern) {
                findings.push(Finding::new(&file.path, number, format!("`{pattern}`: {message}")));
            }
        }
    }
    findings
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// A documentation example that is switched off, or passes only by a panic.
fn unrun_example(file: &File, number: usize, line: &str) -> Option<Finding> {
    let comment = line.trim_start();
    let fence = comment.strip_prefix("///").or_else(|| comment.strip_prefix("//!"))?.trim();
    let mut words = fence.strip_prefix("```")?.split([',', ' ']);
    let word = words.find(|word| *word == "ignore" || *word == concat!("should_", "panic"))?;
    Some(Finding::new(&file.path, number, format!("an example marked `{word}`: examples run and succeed")))
}
