//! What a test run came to, read from the text that the Rust test harness prints.
//!
//! Knows the harness's `test result:` lines. The exit code has the last word: a run that ends badly
//! without a failed test in its text (a crash, an abort) counts as one failure.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::process::Captured;

/// Numbers, time and text of some test runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Tests that passed.
    pub(super) passed: u64,
    /// Tests that failed.
    pub(super) failed: u64,
    /// Wall time of the runs, without building.
    pub(super) elapsed: Duration,
    /// Everything the runs printed.
    pub(super) output: String,
}

impl Outcome {
    /// One failure without a test to its name.
    pub(super) fn failure() -> Self {
        Self { failed: 1, ..Self::default() }
    }

    /// Reads one finished test binary.
    pub(super) fn of_run(run: Captured) -> Self {
        let has_result = run.text.lines().any(|line| result_of(line).is_some());
        let mut outcome = Self::of_text(run.text, run.elapsed);
        match (run.success, has_result) {
            (false, _) => outcome.failed = outcome.failed.max(1),
            // A test with a main function of its own prints no result line: it is one test.
            (true, false) => outcome.passed = 1,
            (true, true) => {}
        }
        outcome
    }

    /// Adds up the result lines of a text.
    pub(super) fn of_text(text: String, elapsed: Duration) -> Self {
        let (mut passed, mut failed) = (0, 0);
        for (n_passed, n_failed) in text.lines().filter_map(result_of) {
            passed += n_passed;
            failed += n_failed;
        }
        Self { passed, failed, elapsed, output: text }
    }

    /// Adds another outcome to this one.
    pub(super) fn add(&mut self, other: &Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.elapsed += other.elapsed;
        self.output.push_str(&other.output);
    }

    /// The closing line that CI reads: `N passed, N failed`.
    pub(super) fn summary(&self) -> String {
        format!("{} passed, {} failed", self.passed, self.failed)
    }
}

/// Outcomes by package name.
#[derive(Debug, Default)]
pub(super) struct Outcomes(BTreeMap<String, Outcome>);

impl Outcomes {
    /// Adds to what is known of a package.
    pub(super) fn add(&mut self, package: &str, outcome: &Outcome) {
        self.0.entry(package.to_owned()).or_default().add(outcome);
    }

    /// Takes what is known of a package; nothing known is nothing run.
    pub(super) fn take(&mut self, package: &str) -> Outcome {
        self.0.remove(package).unwrap_or_default()
    }
}

/// Passed and failed of a line `test result: ok. 3 passed; 0 failed; 0 ignored; ...`.
pub(super) fn result_of(line: &str) -> Option<(u64, u64)> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut counts = counts.split("; ");
    let passed = counts.next()?.strip_suffix(" passed")?.parse().ok()?;
    let failed = counts.next()?.strip_suffix(" failed")?.parse().ok()?;
    Some((passed, failed))
}
