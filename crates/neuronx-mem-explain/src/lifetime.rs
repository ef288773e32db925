//! How long tensors live, in terms of the program's steps. Knows three classes.

use crate::run::{Run, StepRule, Steps};
use crate::{ExplainError, Life};

/// How long a tensor lived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Lifetime {
    /// Allocated before the first step, and kept to the end: weights, usually.
    Initial,
    /// Allocated later, and kept to the end: optimizer state, caches, leaks.
    Kept,
    /// Freed in a later step than allocated.
    Carried,
    /// Freed within its step.
    Temporary,
}

/// Sorts the lives of a run.
#[derive(Clone, Debug)]
pub(crate) struct Lifetimes {
    steps: Option<Steps>,
    end_event: u64,
}

impl Lifetime {
    /// All of them, longest first.
    pub const ALL: [Self; 4] = [Self::Initial, Self::Kept, Self::Carried, Self::Temporary];

    /// One word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Kept => "kept",
            Self::Carried => "carried",
            Self::Temporary => "temporary",
        }
    }
}

impl Lifetimes {
    /// Without steps, a tensor that is freed is temporary and one that is not is kept.
    pub(crate) fn of(run: &Run, rule: StepRule) -> Result<Self, ExplainError> {
        let steps = match Steps::of(run, rule) {
            Ok(steps) => Some(steps),
            Err(ExplainError::NoSteps { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(Self { steps, end_event: run.end_event() })
    }

    pub(crate) fn of_life(&self, life: &Life) -> Lifetime {
        let is_kept = life.death >= self.end_event;
        let Some(steps) = &self.steps else {
            return if is_kept { Lifetime::Kept } else { Lifetime::Temporary };
        };
        match (steps.step_of(life.birth), is_kept) {
            (None, true) => Lifetime::Initial,
            (Some(_), true) => Lifetime::Kept,
            (born, false) if born == steps.step_of(life.death) => Lifetime::Temporary,
            (_, false) => Lifetime::Carried,
        }
    }
}
