//! Where the steps of a run begin and end. Knows marks that count, synchronisations and a fixed
//! number of events; guesses nothing else.

use std::collections::BTreeMap;

use super::Run;
use super::phases::Mark;
use crate::ExplainError;

/// What makes a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepRule {
    /// Marks that count (`step 3 forward`, `ProfilerStep#3`), else synchronisations.
    #[default]
    Marks,
    /// This many events.
    Every(std::num::NonZeroU64),
}

/// The steps of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// First event of each step, ascending, and the event after the last step.
    edges: Vec<u64>,
    rule: String,
}

impl Steps {
    /// Finds the steps. O(marks · log marks).
    ///
    /// Marks count when their text is the same up to a number that never falls and grows at least
    /// once. Of several such the most often counted are the steps, and of equals those that come
    /// first. A step lasts until the next; the last one to the end, or to where the
    /// program takes down what it built ([`Run::end_event`]).
    ///
    /// # Errors
    ///
    /// [`ExplainError::NoSteps`].
    pub fn of(run: &Run, rule: StepRule) -> Result<Self, ExplainError> {
        let end = run.end_event();
        let steps = match rule {
            StepRule::Every(n_events) => {
                Some(Self { edges: every(n_events.get(), end), rule: format!("of {n_events} events") })
            }
            StepRule::Marks => counted(&run.phases.marks, end).or_else(|| {
                let edges = edges(run.phases.synchronisations.iter().copied(), end);
                (edges.len() > 2).then(|| Self { edges, rule: "by synchronisations".to_owned() })
            }),
        };
        steps.ok_or_else(|| ExplainError::NoSteps { input: run.name.clone() })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.edges.len().saturating_sub(1)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What they were told by, in words: `by marks …`, `by synchronisations`, `of … events`.
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// The last event of a step, counted from 0: what is live then has outlived it.
    #[must_use]
    pub fn last_event(&self, step_idx: usize) -> u64 {
        self.edges.get(step_idx + 1).map_or(u64::MAX, |edge| edge - 1)
    }

    /// The first event of a step.
    #[must_use]
    pub fn first_event(&self, step_idx: usize) -> u64 {
        self.edges.get(step_idx).copied().unwrap_or(u64::MAX)
    }

    /// The step of an event; `None` before the first. Events after the last count to it.
    #[must_use]
    pub fn step_of(&self, event: u64) -> Option<usize> {
        let n_before = self.edges[..self.len()].partition_point(|edge| *edge <= event);
        n_before.checked_sub(1)
    }
}

/// Steps by marks that count.
fn counted(marks: &[Mark], end: u64) -> Option<Steps> {
    #[derive(Default)]
    struct Family {
        firsts: Vec<u64>,
        last: u128,
        falls: bool,
    }
    let mut families: BTreeMap<&str, Family> = BTreeMap::new();
    for mark in marks {
        let Some((prefix, number)) = count_of(&mark.label) else { continue };
        let family = families.entry(prefix).or_default();
        if family.firsts.is_empty() || number > family.last {
            family.firsts.push(mark.event);
        }
        family.falls |= number < family.last;
        family.last = number;
    }
    let usable = families.into_iter().filter(|(_, family)| family.firsts.len() > 1 && !family.falls);
    let (prefix, family) =
        usable.min_by_key(|(_, family)| (std::cmp::Reverse(family.firsts.len()), family.firsts[0]))?;
    let edges = edges(family.firsts.into_iter(), end);
    let prefix = prefix.strip_prefix("begin ").unwrap_or(prefix);
    Some(Steps { edges, rule: format!("by marks `{prefix}N`") })
}

/// The text up to the first number, and the number.
fn count_of(label: &str) -> Option<(&str, u128)> {
    let start = label.find(|letter: char| letter.is_ascii_digit())?;
    let digits = label[start..].split(|letter: char| !letter.is_ascii_digit()).next()?;
    Some((&label[..start], digits.parse().ok()?))
}

/// The beginnings before the end, and the end.
fn edges(firsts: impl Iterator<Item = u64>, end: u64) -> Vec<u64> {
    firsts.take_while(|first| *first < end).chain([end]).collect()
}

/// Whole steps only: what is left of the last would look like less.
fn every(n_events: u64, end: u64) -> Vec<u64> {
    let last = end.saturating_sub(1);
    let mut edges = Vec::new();
    let mut edge = 1;
    while edge <= last.saturating_add(1) {
        edges.push(edge);
        match n_events.checked_add(edge) {
            Some(next) => edge = next,
            None => break,
        }
    }
    edges
}
