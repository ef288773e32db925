//! A setting that will also do for a run that differs a little: judged on larger and smaller versions
//! of the inputs, not only on what was recorded.

use std::collections::HashMap;

use super::grid::is_one_program;
use super::hunt::{Found, View, tolerated};
use super::memo::Memo;
use super::score::{Scored, num_failures, ratio};
use super::space::values_of;
use crate::{Evaluation, Figures, TuneError, Variant, Workload};

/// Finalists by cost, and from each class of segment sizes.
const BEST: usize = 16;
const BEST_OF_CLASS: usize = 5;

/// A run that needs a little more, thousandths.
const LITTLE_MORE: [u32; 3] = [1003, 1010, 1030];

/// Programs of other sizes, thousandths: where the inputs are different programs, the next will be too.
const OTHER_PROGRAM: [u32; 3] = [400, 700, 1500];

/// A version may reserve so many thousandths of what the defaults do on it.
const TOLERATED: u64 = 1010;

/// Reserved over live bytes is judged in steps of 2^-10, about 0.1 %: below that, fewer runtime
/// allocations count more.
const STEP_SHIFT: u32 = 22;

/// How little a setting can be relied on: what is to be small, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fragility {
    /// On the inputs themselves.
    num_ooms: u64,
    /// Versions on which it runs out of memory, or reserves more than the defaults.
    num_failures: u64,
    /// Mean of reserved over live bytes on inputs and versions, in steps of 2^-10.
    mean_ratio_steps: u128,
    /// On the inputs themselves.
    num_device_alloc: u64,
    n_changed: usize,
}

/// Judges settings on versions of the inputs.
pub(crate) struct Judge<'a> {
    views: &'a [View],
    versions: Vec<Version>,
    /// What the defaults reserve and a little more: a setting must not be worse on any version.
    bounds: Vec<u64>,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(
        found: &Found,
        views: &'a [View],
        workloads: &[Workload],
        memo: &mut Memo<'_>,
    ) -> Result<Self, TuneError> {
        let versions = versions(views, workloads);
        let unbounded = vec![u64::MAX; versions.len()];
        let defaults = memo.ask(&ask_all(&versions, &found.default, &unbounded))?;
        Ok(Self { views, versions, bounds: defaults.iter().map(|one| tolerated(one, TOLERATED)).collect() })
    }

    /// The most robust setting of a pool.
    pub(crate) fn most_robust(&self, found: &Found, memo: &mut Memo<'_>) -> Result<Scored, TuneError> {
        let finalists: Vec<&Scored> =
            finalists(found, self.views).into_iter().map(|idx| &found.pool[idx]).collect();
        let fragilities = self.judge(&finalists, memo)?;
        // The place in the pool decides between equals: the lower cost.
        let best = fragilities.iter().zip(finalists).min_by_key(|(fragility, _)| **fragility);
        Ok(best.map_or(&found.default, |(_, scored)| scored).clone())
    }

    /// How fragile each of some settings is.
    pub(crate) fn judge(
        &self,
        settings: &[&Scored],
        memo: &mut Memo<'_>,
    ) -> Result<Vec<Fragility>, TuneError> {
        let ask = |scored: &&Scored| ask_all(&self.versions, scored, &self.bounds);
        let round: Vec<Evaluation> = settings.iter().flat_map(ask).collect();
        let answers = memo.ask(&round)?;
        let of_each = answers.chunks(self.versions.len().max(1));
        Ok(settings.iter().zip(of_each).map(|(scored, figures)| self.fragility(scored, figures)).collect())
    }

    fn fragility(&self, scored: &Scored, figures: &[Figures]) -> Fragility {
        let own = scored.figures.iter().zip(self.views);
        let other = figures.iter().zip(self.versions.iter().map(|version| &version.view));
        let sum: u128 = own.chain(other).map(|(one, view)| ratio(one, view.live_peak_bytes)).sum();
        let n_all = (self.views.len() + self.versions.len()) as u128;
        Fragility {
            num_ooms: scored.cost.num_ooms,
            num_failures: figures.iter().map(num_failures).sum(),
            mean_ratio_steps: (sum / n_all.max(1)) >> STEP_SHIFT,
            num_device_alloc: scored.cost.num_device_alloc,
            n_changed: scored.cost.n_changed,
        }
    }
}

/// The best of all, and the best of each class of segment sizes, so that a setting which does not
/// hang on the exact peak is among them. Places in the pool, ascending; the defaults are among them.
fn finalists(found: &Found, views: &[View]) -> Vec<usize> {
    let smallest = views.iter().map(|view| view.live_peak_bytes).min().unwrap_or(0);
    let mut n_of_class: HashMap<u32, usize> = HashMap::new();
    let mut is_final = |(idx, scored): (usize, &Scored)| {
        let share = smallest / scored.config.medium_segment_bytes().max(1);
        let n = n_of_class.entry(share.checked_ilog2().map_or(0, |log| log + 1)).or_default();
        *n += 1;
        let is_default = values_of(&scored.config) == values_of(&found.default.config);
        (idx < BEST || *n <= BEST_OF_CLASS || is_default).then_some(idx)
    };
    found.pool.iter().enumerate().filter_map(&mut is_final).collect()
}

struct Version {
    view: View,
    /// Of other sizes than the device is made for: what counts is what is reserved, not what fits.
    memory_bytes: Option<u64>,
}

fn versions(views: &[View], workloads: &[Workload]) -> Vec<Version> {
    let peaks = || views.iter().map(|view| view.live_peak_bytes);
    let is_one = is_one_program(peaks().min().unwrap_or(0), peaks().max().unwrap_or(0));
    let more = LITTLE_MORE.iter().map(|thousandths| (*thousandths, None));
    let other = OTHER_PROGRAM.iter().filter(|_| !is_one).map(|thousandths| (*thousandths, Some(1 << 42)));
    let scales: Vec<(u32, Option<u64>)> = more.chain(other).collect();
    let version = |view: &View, (thousandths, memory_bytes): (u32, Option<u64>)| {
        let variant = Variant { thousandths, ..view.variant.clone() };
        Version { view: View::new(view.input_idx, variant, &workloads[view.input_idx]), memory_bytes }
    };
    views.iter().flat_map(|view| scales.iter().map(move |scale| version(view, *scale))).collect()
}

fn ask_all(versions: &[Version], scored: &Scored, bounds: &[u64]) -> Vec<Evaluation> {
    let ask = |(version, bound): (&Version, &u64)| Evaluation {
        memory_bytes: version.memory_bytes,
        ..version.view.ask(scored.config, *bound)
    };
    versions.iter().zip(bounds).map(ask).collect()
}
