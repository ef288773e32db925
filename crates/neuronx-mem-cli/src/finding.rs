//! Findings as lines, and what they make of the exit code: one rule for all verbs that check.

use std::fmt::Display;

use neuronx_mem::config::Severity;

use crate::output::Answer;

/// `warning: …` and a line end.
pub(crate) fn line(severity: Severity, message: &impl Display) -> String {
    format!("{severity}: {message}\n")
}

/// No when a finding is a warning or worse: a note may well be meant so.
pub(crate) fn answer(mut severities: impl Iterator<Item = Severity>) -> Answer {
    if severities.any(|severity| severity >= Severity::Warning) { Answer::No } else { Answer::Yes }
}
