//! The lives of one site against the steps: how much is live after each, and which steps left
//! something behind.

use std::collections::BTreeMap;

use super::{Leak, Trend};
use crate::SiteId;
use crate::run::{Run, Steps};
use crate::{Life, SizeClass};

/// Fewest steps that must have left something behind.
const LEAST_STEPS_KEPT: usize = 3;

/// And the part of all steps, 1 in so many: tensors that merely live long are left by fewer.
const LEAST_PART_KEPT: usize = 20;

/// The part of them, 1 in so many, that must lie in the first half: what merely lives long was born
/// lately.
const LEAST_PART_EARLY: usize = 4;

/// What is looked at as one: a call stack, or without one a phase, its stream and a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    site: SiteId,
    kind: Option<(u64, SizeClass)>,
}

/// A life that outlasts at least one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    bytes: u64,
    /// The step that it was born in; 0 also for what was there before.
    born: usize,
    /// Whether it was born in a step.
    is_of_step: bool,
    /// The first step at whose end it is dead; the number of steps when it is never freed.
    dead: usize,
}

/// The steps that count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) warm_up: usize,
    pub(super) n_steps: usize,
}

impl Key {
    pub(super) fn of(run: &Run, life: &Life) -> Self {
        let has_stack = run.sites.has_stack(life.site);
        let kind = (!has_stack).then(|| (life.stream, SizeClass::of(life.bytes)));
        Self { site: life.site, kind }
    }
}

impl Span {
    pub(super) fn of(life: &Life, steps: &Steps) -> Option<Self> {
        let born = steps.step_of(life.birth);
        // What is born after the last step belongs to none.
        if life.bytes == 0 || life.birth > steps.last_event(steps.len().checked_sub(1)?) {
            return None;
        }
        let dead = if life.death > steps.last_event(steps.len() - 1) {
            steps.len()
        } else {
            steps.step_of(life.death).unwrap_or(0)
        };
        let (is_of_step, born) = (born.is_some(), born.unwrap_or(0));
        (dead > born).then_some(Self { bytes: life.bytes, born, is_of_step, dead })
    }
}

impl Window {
    /// Live bytes at the end of each step after warm-up.
    pub(super) fn live_bytes<'a>(&self, spans: impl Iterator<Item = &'a Span>) -> Vec<u64> {
        let mut changes = vec![0_i128; self.n_steps + 1];
        for span in spans {
            changes[span.born] += i128::from(span.bytes);
            changes[span.dead] -= i128::from(span.bytes);
        }
        let mut live = 0;
        let levels = changes.iter().take(self.n_steps).map(|change| {
            live += change;
            u64::try_from(live).unwrap_or(0)
        });
        levels.skip(self.warm_up).collect()
    }

    /// The leak of one site, if it has one.
    pub(super) fn leak(&self, key: Key, spans: &[Span], max_chance: f64) -> Option<Leak> {
        // What the last step leaves may be freed by the next.
        let is_kept = |span: &&Span| {
            span.is_of_step
                && span.dead == self.n_steps
                && (self.warm_up..self.n_steps.saturating_sub(1)).contains(&span.born)
        };
        let kept = || spans.iter().filter(is_kept);
        let mut of_step: Vec<usize> = kept().map(|span| span.born).collect();
        of_step.sort_unstable();
        of_step.dedup();
        let n_counted = self.n_steps.saturating_sub(self.warm_up);
        let n_early = of_step.partition_point(|step| *step < self.warm_up + n_counted / 2);
        if of_step.len() < LEAST_STEPS_KEPT.max(n_counted / LEAST_PART_KEPT)
            || n_early < of_step.len() / LEAST_PART_EARLY
        {
            return None;
        }
        let trend = Trend::of(&self.live_bytes(spans.iter()));
        if !(trend.bytes_per_step > 0.0 && trend.chance <= max_chance) {
            return None;
        }
        Some(Leak {
            site: key.site,
            kind: key.kind,
            trend,
            first_step: *of_step.first()?,
            n_steps: of_step.len(),
            n_kept: kept().count() as u64,
            kept_bytes: kept().fold(0, |sum, span| sum.saturating_add(span.bytes)),
            usual_bytes: usual(kept().map(|span| span.bytes))?,
        })
    }
}

/// The most frequent size, the largest of equals.
fn usual(sizes: impl Iterator<Item = u64>) -> Option<u64> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    sizes.for_each(|bytes| *counts.entry(bytes).or_default() += 1);
    counts.into_iter().max_by_key(|(bytes, count)| (*count, *bytes)).map(|(bytes, _)| bytes)
}
