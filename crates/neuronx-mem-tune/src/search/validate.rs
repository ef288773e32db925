//! Does tuning carry over? The same search without a part of what is known, and its robust pick on
//! the part that it did not see.

use neuronx_mem::AllocatorConfig;

use super::hunt::{Hunt, View, Watch};
use super::memo::Memo;
use super::options::{Phase, TuneOptions};
use super::robust::Judge;
use super::space::Space;
use crate::{Figures, TuneError, Variant, Workload};

/// Into how many parts the steps of a single input are divided, and the most inputs left out.
const STEP_FOLDS: usize = 4;
const INPUT_FOLDS: usize = 8;

/// Share of the time that the search itself may take, percent.
pub(crate) const SEARCH_PERCENT: u32 = 50;

/// What the robust pick did on parts that it was not tuned on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Validation {
    /// One for each part.
    pub held_out: Vec<HeldOut>,
    /// Whether there was time for all parts.
    pub is_complete: bool,
}

/// One part that was kept from the search.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HeldOut {
    /// The input.
    pub input_idx: usize,
    /// Its steps that were left out, from 0; `None` when all of the input was.
    pub steps: Option<std::ops::Range<usize>>,
    /// The robust pick of the rest.
    pub config: AllocatorConfig,
    /// The defaults on the whole input.
    pub default: Figures,
    /// The pick on the whole input.
    pub picked: Figures,
}

impl HeldOut {
    /// By how much more than the defaults the pick reserves, in percent; negative is less. `None`
    /// when one of them does not get to the end.
    #[must_use]
    pub fn change_percent(&self) -> Option<f64> {
        let is_comparable = self.default.is_finished() && self.picked.is_finished();
        let (before, after) = (self.default.reserved_peak_bytes, self.picked.reserved_peak_bytes);
        is_comparable.then(|| (after as f64 - before as f64) / before as f64 * 100.0)
    }
}

impl Validation {
    /// The worst change, in percent; `None` when nothing could be compared.
    #[must_use]
    pub fn worst_percent(&self) -> Option<f64> {
        self.held_out.iter().filter_map(HeldOut::change_percent).max_by(f64::total_cmp)
    }
}

/// What a search may know, and what its pick is tried on.
struct Fold {
    input_idx: usize,
    steps: Option<std::ops::Range<usize>>,
    known: Vec<View>,
}

pub(crate) fn validate(
    workloads: &[Workload],
    options: &TuneOptions,
    sizes: &[u64],
    memo: &mut Memo<'_>,
    watch: &mut Watch<'_>,
) -> Result<Validation, TuneError> {
    let folds = if workloads.len() > 1 { inputs(workloads) } else { steps(workloads) };
    let (n_folds, mut held_out) = (folds.len(), Vec::new());
    // A pick that carries over is found soon, or not at all.
    let options = TuneOptions { patience: options.patience.min(2), ..*options };
    for (nth, fold) in folds.into_iter().enumerate() {
        if watch.is_over(100) {
            return Ok(Validation { held_out, is_complete: false });
        }
        let share = u32::try_from((nth + 1) * 100 / n_folds).unwrap_or(100);
        let percent = SEARCH_PERCENT + (100 - SEARCH_PERCENT) * share / 100;
        held_out.push(try_fold(fold, workloads, &options, sizes, memo, watch, percent)?);
    }
    Ok(Validation { held_out, is_complete: true })
}

fn try_fold(
    fold: Fold,
    workloads: &[Workload],
    options: &TuneOptions,
    sizes: &[u64],
    memo: &mut Memo<'_>,
    watch: &mut Watch<'_>,
    percent: u32,
) -> Result<HeldOut, TuneError> {
    let Fold { input_idx, steps, known } = fold;
    let space = Space { max_segment_bytes: options.max_segment_bytes };
    let hunt = Hunt::new(&known, space, memo)?;
    let found = hunt.run(options, sizes, watch, percent, [Phase::CrossValidation; 2])?;
    let judge = Judge::new(&found, &known, workloads, memo)?;
    let config = judge.most_robust(&found, memo)?.config;
    let whole = View::new(input_idx, Variant::default(), &workloads[input_idx]);
    let round = [AllocatorConfig::default(), config].map(|config| whole.ask(config, u64::MAX));
    let figures = memo.ask(&round)?;
    let [default, picked] = figures[..] else {
        return Err(TuneError::WrongResults { n_jobs: round.len(), n_results: figures.len() });
    };
    Ok(HeldOut { input_idx, steps, config, default, picked })
}

/// Each input once.
fn inputs(workloads: &[Workload]) -> Vec<Fold> {
    let view = |idx: usize| View::new(idx, Variant::default(), &workloads[idx]);
    let fold = |input_idx: usize| {
        let known = (0..workloads.len()).filter(|idx| *idx != input_idx).map(view).collect();
        Fold { input_idx, steps: None, known }
    };
    (0..workloads.len().min(INPUT_FOLDS)).map(fold).collect()
}

/// Each part of the steps once; none when there are too few.
fn steps(workloads: &[Workload]) -> Vec<Fold> {
    let [workload] = workloads else { return Vec::new() };
    let n_steps = workload.synchronizations().len();
    let n_folds = STEP_FOLDS.min(n_steps);
    if n_folds < 2 {
        return Vec::new();
    }
    let fold = |nth: usize| {
        let steps = nth * n_steps / n_folds..(nth + 1) * n_steps / n_folds;
        let variant = Variant { without_steps: steps.clone(), ..Variant::default() };
        let known = vec![View::new(0, variant, workload)];
        Fold { input_idx: 0, steps: Some(steps), known }
    };
    (0..n_folds).map(fold).collect()
}
