//! Documentation tests: the examples in the doc comments of every library.
//!
//! One `cargo test --doc` for the whole selection, its output taken apart by the headings that
//! `cargo` prints before each library.

use std::time::{Duration, Instant};

use super::outcome::{Outcome, Outcomes};
use super::selection::Selection;
use super::set_snapshot_mode;
use crate::failure::Failure;
use crate::process::{self, Merged};
use crate::workspace::Workspace;

/// The output between two headings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    /// The library that the heading names, as code writes it.
    pub(super) library: String,
    /// The text after the heading.
    pub(super) text: String,
    /// Time from the heading to the next one.
    pub(super) elapsed: Duration,
}

/// Runs the examples of every selected library.
pub(super) fn run(workspace: &Workspace, selection: &Selection<'_>) -> Result<Outcomes, Failure> {
    let mut outcomes = Outcomes::default();
    let mut targets = selection.members().iter().flat_map(|member| &member.targets);
    // Without a single library `cargo test --doc` is an error, not an empty run.
    if !targets.any(|target| target.has_doc_tests) {
        return Ok(outcomes);
    }
    let mut command = process::cargo(workspace.root(), &["test", "--doc", "--no-fail-fast"]);
    command.args(selection.cargo_arguments());
    set_snapshot_mode(&mut command, selection.snapshots());
    process::announce(&command);
    // Colour codes would hide the headings.
    command.env("CARGO_TERM_COLOR", "never");
    let mut merged = Merged::spawn(command)?;
    let mut splitter = Splitter::default();
    let start = Instant::now();
    while let Some(line) = merged.next_line()? {
        splitter.push(&line, start.elapsed());
    }
    let success = merged.wait()?.success();
    let (preamble, sections) = splitter.finish(start.elapsed());
    if sections.is_empty() && !success {
        eprint!("{preamble}");
        return Err(Failure::Broken("the documentation examples do not build".to_owned()));
    }
    for (package, outcome) in attribute(sections, success, |library| owner(selection, library)) {
        outcomes.add(&package, &outcome);
    }
    Ok(outcomes)
}

/// The outcome of each section, with the name of its package.
///
/// A run that ends badly without a failed example stopped in its last section: that section gets
/// the failure.
pub(super) fn attribute(
    sections: Vec<Section>,
    success: bool,
    owner: impl Fn(&str) -> String,
) -> Vec<(String, Outcome)> {
    let mut outcomes: Vec<(String, Outcome)> = sections
        .into_iter()
        .map(|section| {
            let package = owner(&section.library);
            let mut outcome = Outcome::of_text(section.text, section.elapsed);
            outcome.output.insert_str(0, &format!("---- {package}: documentation examples\n"));
            (package, outcome)
        })
        .collect();
    let is_explained = success || outcomes.iter().any(|(_, outcome)| outcome.failed > 0);
    if let (false, Some((_, outcome))) = (is_explained, outcomes.last_mut()) {
        outcome.failed = 1;
    }
    outcomes
}

/// The package of a library; the library's own name when no selected package has it.
fn owner(selection: &Selection<'_>, library: &str) -> String {
    let has_library = |targets: &[crate::workspace::Target]| {
        targets.iter().any(|target| target.has_doc_tests && target.name == library)
    };
    let member = selection.members().iter().find(|member| has_library(&member.targets));
    member.map_or_else(|| library.to_owned(), |member| member.name.clone())
}

/// Takes lines one by one and cuts them at the headings.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    preamble: String,
    sections: Vec<Section>,
    opened_at: Duration,
}

impl Splitter {
    /// Takes one line and the time it came, counted from the start.
    pub(super) fn push(&mut self, line: &str, at: Duration) {
        if let Some(library) = line.trim_start().strip_prefix("Doc-tests ") {
            self.close(at);
            self.sections.push(Section { library: library.to_owned(), ..Section::default() });
            return;
        }
        let text = self.sections.last_mut().map_or(&mut self.preamble, |section| &mut section.text);
        text.push_str(line);
        text.push('\n');
    }

    /// The text before the first heading, and the sections.
    pub(super) fn finish(mut self, at: Duration) -> (String, Vec<Section>) {
        self.close(at);
        (self.preamble, self.sections)
    }

    fn close(&mut self, at: Duration) {
        if let Some(section) = self.sections.last_mut() {
            section.elapsed = at.saturating_sub(self.opened_at);
        }
        self.opened_at = at;
    }
}
