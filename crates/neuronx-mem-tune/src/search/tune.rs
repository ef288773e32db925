//! The whole of tuning: search, shorten, judge, cross-validate. Prints nothing.

use neuronx_mem::AllocatorConfig;
use neuronx_mem::config::ConfigKey;

use super::hunt::{Found, Hunt, View, Watch};
use super::memo::Memo;
use super::options::{Phase, TuneOptions, TuneProgress};
use super::robust::Judge;
use super::score::Scored;
use super::space::{Space, values_of};
use super::validate::{SEARCH_PERCENT, Validation, validate};
use crate::{Evaluate, Evaluation, Figures, TuneError, Variant, Workload};

/// What a search has come to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tuning {
    /// The setting with the least out-of-memory errors, then reserved memory, then runtime allocations
    /// on exactly these inputs.
    pub best: Pick,
    /// The setting to use: also good on larger and smaller versions of the inputs, and never worse
    /// than the defaults there.
    pub robust: Pick,
    /// Input by input, in the order given.
    pub inputs: Vec<InputTuning>,
    /// What the robust pick does on parts that it was not tuned on; `None` when not asked for, or when
    /// a single input has fewer than two steps.
    pub validation: Option<Validation>,
    /// Evaluations made.
    pub evaluated: u64,
    /// Whether the search ended by itself, not by its time.
    pub is_complete: bool,
}

/// A setting that a search proposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pick {
    /// The setting; the defaults when nothing better was found.
    pub config: AllocatorConfig,
    /// Out-of-memory errors over all inputs.
    pub num_ooms: u64,
}

/// One input under three settings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputTuning {
    /// Name of the input.
    pub input: String,
    /// Most bytes that its tensors ask for at once.
    pub live_peak_bytes: u64,
    /// The defaults.
    pub default: Figures,
    /// The best pick.
    pub best: Figures,
    /// The robust pick.
    pub robust: Figures,
}

/// Searches the eleven allocator keys for the setting that serves these inputs best.
///
/// `evaluator` answers for the same inputs in the same order; [`LocalSweep`](crate::LocalSweep) does so
/// on this machine. The answer depends on inputs, options and seed alone, unless time runs out.
/// Dangerous combinations (allocator semantics §4) are never proposed.
///
/// ```
/// use neuronx_mem_replay::TraceReader;
/// use neuronx_mem_tune::{LocalSweep, TuneOptions, Workload, tune};
///
/// let trace = TraceReader::new("a,1,4194304,0\na,2,8388608,0\nf,1\n".as_bytes(), "two tensors");
/// let workloads = [Workload::read(trace)?];
/// let options = TuneOptions::default();
/// let mut local = LocalSweep::new(&workloads, options.machine);
/// let tuning = tune(&workloads, &options, &mut local, &mut |_| {})?;
/// assert_eq!(tuning.inputs[0].default.reserved_peak_bytes, 64 << 20);
/// assert_eq!(tuning.inputs[0].best.reserved_peak_bytes, 12 << 20);
/// # Ok::<(), neuronx_mem_tune::TuneError>(())
/// ```
///
/// # Errors
///
/// [`TuneError::NoInput`], and what the evaluator fails with.
pub fn tune(
    workloads: &[Workload],
    options: &TuneOptions,
    evaluator: &mut dyn Evaluate,
    observer: &mut dyn FnMut(&TuneProgress),
) -> Result<Tuning, TuneError> {
    if workloads.is_empty() {
        return Err(TuneError::NoInput);
    }
    let mut memo = Memo::new(evaluator);
    let mut watch = Watch::new(options.time_budget, observer);
    let space = Space { max_segment_bytes: options.max_segment_bytes };
    let sizes = distinct_sizes(workloads);
    let view = |(idx, workload)| View::new(idx, Variant::default(), workload);
    let views: Vec<View> = workloads.iter().enumerate().map(view).collect();

    let hunt = Hunt::new(&views, space, &mut memo)?;
    let mut found = hunt.run(options, &sizes, &mut watch, SEARCH_PERCENT, [Phase::Known, Phase::Varying])?;
    let best = shortened(found.pool[0].clone(), &views, space, &mut memo)?;
    found.pool.insert(0, best.clone());
    watch.tell(Phase::Robustness, memo.evaluated(), best.mean_ratio());
    let judge = Judge::new(&found, &views, workloads, &mut memo)?;
    let robust = judge.most_robust(&found, &mut memo)?;
    let robust = judged_shorter(robust, &judge, &views, space, &mut memo)?;
    let is_validated = options.is_cross_validated && (workloads.len() > 1 || has_steps(workloads));
    let validation = match is_validated {
        true => Some(validate(workloads, options, &sizes, &mut memo, &mut watch)?),
        false => None,
    };
    let Found { default, is_complete, .. } = found;
    let inputs = (0..workloads.len()).map(|idx| InputTuning {
        input: workloads[idx].name().to_owned(),
        live_peak_bytes: workloads[idx].live_peak_bytes(),
        default: default.figures[idx],
        best: best.figures[idx],
        robust: robust.figures[idx],
    });
    Ok(Tuning {
        inputs: inputs.collect(),
        best: Pick::of(&best),
        robust: Pick::of(&robust),
        validation,
        evaluated: memo.evaluated(),
        is_complete,
    })
}

impl Pick {
    fn of(scored: &Scored) -> Self {
        Self { config: scored.config, num_ooms: scored.cost.num_ooms }
    }
}

fn has_steps(workloads: &[Workload]) -> bool {
    workloads.iter().all(|workload| workload.synchronizations().len() > 1)
}

/// The distinct sizes of all inputs, ascending.
fn distinct_sizes(workloads: &[Workload]) -> Vec<u64> {
    let mut sizes: Vec<u64> = workloads.iter().flat_map(|workload| workload.sizes()).copied().collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Settings with one key less.
fn shorter(config: &AllocatorConfig, space: Space) -> Vec<AllocatorConfig> {
    let default = AllocatorConfig::default();
    let without = |left_out: ConfigKey| {
        let needed = |key: &ConfigKey| *key != left_out && config.get(*key) != default.get(*key);
        let kept: Vec<_> =
            ConfigKey::ALL.into_iter().filter(needed).map(|key| (key, config.get(key))).collect();
        space.changed(&kept)
    };
    ConfigKey::ALL.into_iter().filter_map(without).filter(|other| other != config).collect()
}

fn scored(
    configs: Vec<AllocatorConfig>,
    views: &[View],
    memo: &mut Memo<'_>,
) -> Result<Vec<Scored>, TuneError> {
    let live_peaks: Vec<u64> = views.iter().map(|view| view.live_peak_bytes).collect();
    let ask =
        |config: &AllocatorConfig| views.iter().map(|view| view.ask(*config, u64::MAX)).collect::<Vec<_>>();
    let round: Vec<Evaluation> = configs.iter().flat_map(ask).collect();
    let answers = memo.ask(&round)?;
    let of_each = answers.chunks(views.len().max(1));
    Ok(configs
        .into_iter()
        .zip(of_each)
        .map(|(c, figures)| Scored::new(c, figures.to_vec(), &live_peaks))
        .collect())
}

/// Leaves keys out as long as nothing gets worse.
fn shortened(
    mut best: Scored,
    views: &[View],
    space: Space,
    memo: &mut Memo<'_>,
) -> Result<Scored, TuneError> {
    loop {
        let candidates = scored(shorter(&best.config, space), views, memo)?;
        let Some(next) = candidates.into_iter().min_by(Scored::compare) else { return Ok(best) };
        if next.cost > best.cost || values_of(&next.config) == values_of(&best.config) {
            return Ok(best);
        }
        best = next;
    }
}

/// Leaves keys out as long as the setting gets no more fragile.
fn judged_shorter(
    mut robust: Scored,
    judge: &Judge<'_>,
    views: &[View],
    space: Space,
    memo: &mut Memo<'_>,
) -> Result<Scored, TuneError> {
    loop {
        let mut candidates = scored(shorter(&robust.config, space), views, memo)?;
        candidates.push(robust.clone());
        let fragilities = judge.judge(&candidates.iter().collect::<Vec<_>>(), memo)?;
        let best = fragilities.iter().zip(candidates).min_by_key(|(fragility, _)| **fragility);
        let Some((_, next)) = best else { return Ok(robust) };
        if next.cost.n_changed >= robust.cost.n_changed {
            return Ok(robust);
        }
        robust = next;
    }
}
