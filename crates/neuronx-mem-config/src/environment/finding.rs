//! One remark about an environment, with its facts in fields.
//!
//! Knows what can be said and how it reads in one line. Refuses to decide: the caller prints, counts
//! or ignores it.

use std::fmt;

use super::lint::PairRule;
use super::problem::ValueProblem;
use crate::{ALLOCATOR_CONFIG_VARIABLE, Finding, Severity};

/// One remark about an environment.
///
/// `variable` fields are names of the registry. `text` fields are quotations: control characters
/// escaped, cut after 64 characters with `…`. [`Display`](fmt::Display) is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EnvFinding {
    /// A name that no page has.
    UnknownName {
        /// The name, quoted.
        text: String,
        /// The known name with the most similar spelling, when one is near enough.
        nearest: Option<&'static str>,
    },
    /// There are more unknown names than are reported.
    MoreNames {
        /// How many are not reported.
        count: usize,
    },
    /// A name that another has taken the place of.
    Renamed {
        /// The old name.
        old: &'static str,
        /// The name in the registry.
        variable: &'static str,
    },
    /// The text cannot be used, and the default holds.
    BadValue {
        /// The variable.
        variable: &'static str,
        /// Its text.
        text: String,
        /// What is wrong.
        problem: ValueProblem,
        /// The value in force; empty when none is known.
        used: String,
    },
    /// One item of a list is dropped, or kept although it is not known.
    BadItem {
        /// The variable.
        variable: &'static str,
        /// The item.
        text: String,
        /// What is wrong.
        problem: ValueProblem,
        /// Whether it is in force all the same.
        is_kept: bool,
    },
    /// A list has more bad items than are reported.
    MoreItems {
        /// The variable.
        variable: &'static str,
        /// How many are not reported.
        count: usize,
    },
    /// The variable is set to an empty text, which counts as not set.
    Empty {
        /// The variable.
        variable: &'static str,
    },
    /// A text that looks like "on" or says nothing switches off, because only `1` switches on.
    Disables {
        /// The variable.
        variable: &'static str,
        /// Its text.
        text: String,
    },
    /// Two variables do not go together, or one has no effect beside the other.
    Pair(PairRule),
    /// A remark about the text of the allocator configuration.
    Allocator(Finding),
    /// The variable changed after it had been read for the process.
    SetTooLate {
        /// The variable.
        variable: &'static str,
        /// The text that was read; none when it was not set.
        read: Option<String>,
        /// The text now; none when it is not set.
        now: Option<String>,
    },
}

impl EnvFinding {
    /// Returns how much it matters.
    pub fn severity(&self) -> Severity {
        match self {
            Self::UnknownName { nearest: None, .. } | Self::Empty { .. } | Self::MoreNames { .. } => {
                Severity::Note
            }
            Self::BadItem { is_kept: true, .. } => Severity::Note,
            Self::UnknownName { .. } | Self::Disables { .. } | Self::MoreItems { .. } => Severity::Warning,
            Self::Renamed { .. } | Self::BadValue { .. } | Self::BadItem { .. } => Severity::Error,
            Self::SetTooLate { .. } => Severity::Error,
            Self::Pair(rule) => rule.severity(),
            Self::Allocator(finding) => finding.severity(),
        }
    }

    /// Returns the name of the variable of the registry that it is about, if it is about one.
    pub fn variable(&self) -> Option<&'static str> {
        match self {
            Self::UnknownName { .. } | Self::MoreNames { .. } => None,
            Self::Renamed { variable, .. }
            | Self::BadValue { variable, .. }
            | Self::BadItem { variable, .. }
            | Self::MoreItems { variable, .. }
            | Self::Empty { variable }
            | Self::Disables { variable, .. }
            | Self::SetTooLate { variable, .. } => Some(variable),
            Self::Pair(rule) => Some(rule.subject().name()),
            Self::Allocator(_) => Some(ALLOCATOR_CONFIG_VARIABLE),
        }
    }

    /// Returns the name of the variant for machine-readable output, such as `bad_value`; for a pair
    /// and for the allocator that of the rule or the finding inside.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::UnknownName { .. } => "unknown_name",
            Self::MoreNames { .. } => "more_names",
            Self::Renamed { .. } => "renamed",
            Self::BadValue { .. } => "bad_value",
            Self::BadItem { .. } => "bad_item",
            Self::MoreItems { .. } => "more_items",
            Self::Empty { .. } => "empty",
            Self::Disables { .. } => "disables",
            Self::Pair(rule) => rule.name(),
            Self::Allocator(finding) => finding.kind(),
            Self::SetTooLate { .. } => "set_too_late",
        }
    }
}

impl fmt::Display for EnvFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownName { text, nearest: Some(nearest) } => {
                write!(f, "unknown variable `{text}`; did you mean `{nearest}`?")
            }
            Self::UnknownName { text, nearest: None } => {
                write!(f, "unknown variable `{text}`: no page names it")
            }
            Self::MoreNames { count } => write!(f, "and {count} more unknown variables"),
            Self::Renamed { old, variable } => {
                write!(f, "{old} is read by older builds only and does nothing here; set {variable} instead")
            }
            Self::BadValue { variable, text, problem, used } if used.is_empty() => {
                write!(f, "{variable}: `{text}` {problem}; it counts as unset")
            }
            Self::BadValue { variable, text, problem, used } => {
                write!(f, "{variable}: `{text}` {problem}; the default {used} holds")
            }
            Self::BadItem { variable, problem: problem @ ValueProblem::EmptyItem, .. } => {
                write!(f, "{variable}: there {problem} in the list")
            }
            Self::BadItem { variable, text, problem, is_kept: true } => {
                write!(f, "{variable}: `{text}` {problem}; it is left to others")
            }
            Self::BadItem { variable, text, problem, is_kept: false } => {
                write!(f, "{variable}: the item `{text}` is ignored because it {problem}")
            }
            Self::MoreItems { variable, count } => write!(f, "{variable}: and {count} more items like these"),
            Self::Empty { variable } => write!(f, "{variable} is empty, which counts as unset"),
            Self::Disables { variable, text } => {
                write!(f, "{variable}: `{text}` switches it off, because only 1 switches it on")
            }
            Self::Pair(rule) => rule.fmt(f),
            Self::Allocator(finding) => {
                let message = finding.to_string();
                let message = message.strip_prefix(ALLOCATOR_CONFIG_VARIABLE).map(str::trim_start);
                match message {
                    Some(rest) => write!(f, "{ALLOCATOR_CONFIG_VARIABLE} {rest}"),
                    None => write!(f, "{ALLOCATOR_CONFIG_VARIABLE}: {finding}"),
                }
            }
            Self::SetTooLate { variable, read, now } => {
                let read = quoted_or_unset(read.as_deref());
                let now = quoted_or_unset(now.as_deref());
                write!(
                    f,
                    "{variable} changed from {read} to {now} after it was read; it counts after a restart"
                )
            }
        }
    }
}

fn quoted_or_unset(text: Option<&str>) -> String {
    text.map_or("unset".to_owned(), |text| format!("`{text}`"))
}
