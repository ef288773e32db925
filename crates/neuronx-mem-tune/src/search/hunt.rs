//! The search itself over a set of views: known settings first, then variations of the best until
//! nothing improves any more. Knows figures only, never how they are made.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use neuronx_mem::AllocatorConfig;

use super::grid::known;
use super::memo::Memo;
use super::moves::Moves;
use super::options::{Phase, TuneOptions, TuneProgress};
use super::random::Random;
use super::score::{Scored, bytes_at, whole_ratio};
use super::space::{Space, Values, thousandths, values_of};
use crate::{Evaluation, Figures, TuneError, Variant, Verdict, Workload};

/// Settings that are varied.
const ELITE: usize = 8;

/// A setting more than this far above the best, in 2^-7, is given up: about 8 %.
const SLACK: u128 = 10;

/// With several inputs, one of them may reserve so many thousandths of what the defaults do: where
/// the defaults are almost perfect, nothing else could be proposed for the others.
pub(crate) const TOLERATED: u64 = 1005;

/// Events that a round should cost, for a round to end soon after its time.
const EVENTS_A_ROUND: usize = 20_000_000;

/// One version of one input, as a search sees it.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) input_idx: usize,
    pub(crate) variant: Variant,
    pub(crate) live_peak_bytes: u64,
    pub(crate) n_events: usize,
}

/// What a search has found.
#[derive(Debug)]
pub(crate) struct Found {
    /// The defaults.
    pub(crate) default: Scored,
    /// Settings that are nowhere worse than the defaults, best first; the defaults are among them.
    pub(crate) pool: Vec<Scored>,
    /// Whether it ended by itself.
    pub(crate) is_complete: bool,
}

/// When to stop, and whom to tell.
pub(crate) struct Watch<'a> {
    started: Instant,
    budget: Option<Duration>,
    observer: &'a mut dyn FnMut(&TuneProgress),
}

impl<'a> Watch<'a> {
    pub(crate) fn new(budget: Option<Duration>, observer: &'a mut dyn FnMut(&TuneProgress)) -> Self {
        Self { started: Instant::now(), budget, observer }
    }

    /// Whether this part of the time has passed, in percent.
    pub(crate) fn is_over(&self, percent: u32) -> bool {
        self.budget.is_some_and(|budget| self.started.elapsed() * 100 >= budget * percent)
    }

    pub(crate) fn tell(&mut self, phase: Phase, evaluated: u64, best_ratio: f64) {
        (self.observer)(&TuneProgress { phase, evaluated, best_ratio });
    }
}

impl View {
    pub(crate) fn new(input_idx: usize, variant: Variant, workload: &Workload) -> Self {
        let version;
        let workload = if variant.is_whole() {
            workload
        } else {
            version = variant.apply(workload);
            &version
        };
        let (live_peak_bytes, n_events) = (workload.live_peak_bytes(), workload.n_events());
        Self { input_idx, variant, live_peak_bytes, n_events }
    }

    pub(crate) fn ask(&self, config: AllocatorConfig, bound_bytes: u64) -> Evaluation {
        let (input_idx, variant) = (self.input_idx, self.variant.clone());
        Evaluation { input_idx, variant, memory_bytes: None, config, bound_bytes }
    }
}

/// The most that may be reserved where the defaults do so much; without a limit where they fail.
pub(crate) fn tolerated(of_default: &Figures, factor: u64) -> u64 {
    if of_default.is_finished() { thousandths(of_default.reserved_peak_bytes, factor) } else { u64::MAX }
}

pub(crate) struct Hunt<'a, 'm> {
    views: &'a [View],
    live_peaks: Vec<u64>,
    /// Positions of the views, cheapest first.
    order: Vec<usize>,
    memo: &'a mut Memo<'m>,
    space: Space,
    seen: HashSet<Values>,
    default: Scored,
    pool: Vec<Scored>,
}

impl<'a, 'm> Hunt<'a, 'm> {
    /// Evaluates the defaults, to begin with.
    pub(crate) fn new(views: &'a [View], space: Space, memo: &'a mut Memo<'m>) -> Result<Self, TuneError> {
        let live_peaks: Vec<u64> = views.iter().map(|view| view.live_peak_bytes).collect();
        let config = AllocatorConfig::default();
        let round: Vec<Evaluation> = views.iter().map(|view| view.ask(config, u64::MAX)).collect();
        let default = Scored::new(config, memo.ask(&round)?, &live_peaks);
        let mut order: Vec<usize> = (0..views.len()).collect();
        order.sort_by_key(|idx| views[*idx].n_events);
        let (seen, pool) = (HashSet::from([values_of(&config)]), vec![default.clone()]);
        Ok(Self { views, live_peaks, order, memo, space, seen, default, pool })
    }

    /// Searches. `percent` of the time budget may pass; `sizes` are the distinct sizes of the inputs.
    pub(crate) fn run(
        mut self,
        options: &TuneOptions,
        sizes: &[u64],
        watch: &mut Watch<'_>,
        percent: u32,
        phases: [Phase; 2],
    ) -> Result<Found, TuneError> {
        let known = known(&self.space, &self.live_peaks);
        let n_a_round = self.n_a_round();
        for round in known.chunks(n_a_round) {
            self.attempt(round.to_vec())?;
            self.tell(watch, phases[0]);
            if watch.is_over(percent) {
                return Ok(self.finish(false));
            }
        }
        let mut moves = Moves { space: self.space, sizes, random: Random::new(options.seed) };
        let mut n_stale = 0;
        while n_stale < options.patience {
            let elite: Vec<AllocatorConfig> = self.pool.iter().take(ELITE).map(|one| one.config).collect();
            let before = self.pool[0].cost;
            self.attempt(moves.vary(&elite, n_a_round))?;
            self.tell(watch, phases[1]);
            // A gain of less than 2^-14, 0.006 %, is no reason to go on.
            let gained = before.ratio_sum.saturating_sub(self.pool[0].cost.ratio_sum);
            let is_gain = self.pool[0].cost.num_ooms < before.num_ooms || gained > before.ratio_sum >> 14;
            n_stale = if is_gain { 0 } else { n_stale + 1 };
            if watch.is_over(percent) {
                return Ok(self.finish(false));
            }
        }
        Ok(self.finish(true))
    }

    fn finish(self, is_complete: bool) -> Found {
        Found { default: self.default, pool: self.pool, is_complete }
    }

    fn n_a_round(&self) -> usize {
        let n_events: usize = self.views.iter().map(|view| view.n_events).sum();
        (EVENTS_A_ROUND / n_events.max(1)).clamp(16, 256)
    }

    fn tell(&self, watch: &mut Watch<'_>, phase: Phase) {
        watch.tell(phase, self.memo.evaluated(), self.pool[0].mean_ratio());
    }

    /// Evaluates what is new of these, view by view, and keeps what is nowhere worse than the defaults.
    fn attempt(&mut self, mut configs: Vec<AllocatorConfig>) -> Result<(), TuneError> {
        configs.retain(|config| self.seen.insert(values_of(config)));
        let mut figures: Vec<Vec<Option<Figures>>> = vec![vec![None; self.views.len()]; configs.len()];
        let mut alive: Vec<usize> = (0..configs.len()).collect();
        let bounds = self.bounds();
        for &view_idx in &self.order {
            let view = &self.views[view_idx];
            let ask = |idx: &usize| view.ask(configs[*idx], bounds[view_idx]);
            let round: Vec<Evaluation> = alive.iter().map(ask).collect();
            let answers = self.memo.ask(&round)?;
            let before = self.default.figures[view_idx];
            let is_hopeful = |one: &Figures| match one.verdict {
                Verdict::Finished => true,
                Verdict::OutOfMemory { .. } => before.num_ooms() > 0,
                Verdict::Abandoned | Verdict::SizeOverflow => false,
            };
            let hopeful = alive.iter().zip(&answers).filter(|(_, one)| is_hopeful(one));
            let hopeful: Vec<usize> =
                hopeful.map(|(idx, one)| (figures[*idx][view_idx] = Some(*one), *idx).1).collect();
            alive = hopeful;
        }
        for idx in alive {
            let complete: Vec<Figures> = figures[idx].iter().copied().flatten().collect();
            self.pool.push(Scored::new(configs[idx], complete, &self.live_peaks));
        }
        self.pool.sort_by(Scored::compare);
        Ok(())
    }

    /// Above which reserved bytes a setting is hopeless on each view: worse than the defaults there,
    /// or too far from the best even if it were perfect on all other views.
    fn bounds(&self) -> Vec<u64> {
        let best = &self.pool[0];
        let is_fitting = best.cost.num_ooms == 0;
        let others = whole_ratio() * (self.views.len() as u128 - 1);
        let most = best.cost.ratio_sum + ((best.cost.ratio_sum * SLACK) >> 7);
        let bound = |(figures, live): (&Figures, &u64)| {
            let of_default = tolerated(figures, if self.views.len() > 1 { TOLERATED } else { 1000 });
            let of_best = if is_fitting { bytes_at(most.saturating_sub(others), *live) } else { u64::MAX };
            of_default.min(of_best)
        };
        self.default.figures.iter().zip(&self.live_peaks).map(bound).collect()
    }
}
