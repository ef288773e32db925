//! What grows step after step. A leak is a site whose tensors pile up: live bytes that rise with the
//! steps beyond chance, from tensors of many steps, early and late, that are never freed.

mod find;
mod trend;

use std::collections::BTreeMap;

use crate::SiteId;
use crate::run::{Run, StepRule, Steps};
use crate::{ExplainError, SizeClass};

pub use trend::Trend;

/// Fewest steps that can show a trend at the usual level of significance.
pub const LEAST_STEPS: usize = 5;

/// What counts as a leak.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LeakOptions {
    /// What makes a step.
    pub steps: StepRule,
    /// Steps at the beginning that do not count: caches fill, optimizers make their state.
    pub warm_up: usize,
    /// A rise that chance would make more often than this is none.
    pub max_chance: f64,
}

impl Default for LeakOptions {
    fn default() -> Self {
        Self { steps: StepRule::Marks, warm_up: 1, max_chance: 0.01 }
    }
}

/// The leaks of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Leaks {
    /// The steps, warm-up included.
    pub steps: Steps,
    /// The leaks, the steepest first.
    pub leaks: Vec<Leak>,
    /// Live bytes of all sites at the end of each step after warm-up, as a trend. It rises without a
    /// leak where tensors are replaced by larger ones, as in a growing key-value cache.
    pub total: Trend,
    /// Whether there are enough steps after warm-up to tell a leak from chance: [`LEAST_STEPS`].
    pub is_conclusive: bool,
}

/// One site that leaks.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Leak {
    /// The site.
    pub site: SiteId,
    /// The stream and the sizes, where the site is a phase and no stack.
    pub kind: Option<(u64, SizeClass)>,
    /// Live bytes at the end of each step after warm-up, as a trend.
    pub trend: Trend,
    /// The first step, from 0, that left something behind for good.
    pub first_step: usize,
    /// Steps after warm-up that did.
    pub n_steps: usize,
    /// Tensors that were left behind by them.
    pub n_kept: u64,
    /// Their bytes.
    pub kept_bytes: u64,
    /// Most frequent size among them, bytes.
    pub usual_bytes: u64,
}

impl Leaks {
    /// Looks for leaks. O(allocations + those that outlive a step · log steps + sites · steps²), with at
    /// most a few hundred of the steps looked at.
    ///
    /// ```
    /// use neuronx_mem_explain::{Input, LeakOptions, Leaks, Run};
    /// use neuronx_mem_replay::TraceReader;
    ///
    /// let steps = (0..10).map(|step| format!("m,step {step}\na,{step},4096,0\n"));
    /// let text: String = steps.collect();
    /// let run = Run::of(&Input::from_events(TraceReader::new(text.as_bytes(), "leaky"))?)?;
    /// let leaks = Leaks::of(&run, &LeakOptions::default())?;
    /// assert_eq!(leaks.leaks[0].trend.bytes_per_step, 4096.0);
    /// # Ok::<(), neuronx_mem_explain::ExplainError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ExplainError::NoSteps`]; [`ExplainError::NoHistory`] for a snapshot without one.
    pub fn of(run: &Run, options: &LeakOptions) -> Result<Self, ExplainError> {
        if !run.has_history {
            return Err(ExplainError::NoHistory { input: run.name.clone() });
        }
        let steps = Steps::of(run, options.steps)?;
        let mut spans: BTreeMap<find::Key, Vec<find::Span>> = BTreeMap::new();
        for life in &run.lives {
            if let Some(span) = find::Span::of(life, &steps) {
                spans.entry(find::Key::of(run, life)).or_default().push(span);
            }
        }
        let is_conclusive = steps.len().saturating_sub(options.warm_up) >= LEAST_STEPS;
        let window = find::Window { warm_up: options.warm_up, n_steps: steps.len() };
        let mut leaks: Vec<Leak> =
            spans.iter().filter_map(|(key, spans)| window.leak(*key, spans, options.max_chance)).collect();
        leaks.sort_by(|a, b| {
            b.trend.bytes_per_step.total_cmp(&a.trend.bytes_per_step).then(a.site.cmp(&b.site))
        });
        let total = Trend::of(&window.live_bytes(spans.values().flatten()));
        Ok(Self { steps, leaks, total, is_conclusive })
    }
}
