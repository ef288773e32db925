//! Which of two settings is better. Exact arithmetic: no two machines can disagree.

use std::cmp::Ordering;

use neuronx_mem::AllocatorConfig;

use super::space::{n_changed, values_of};
use crate::{Figures, Verdict};

/// Reserved over live bytes is kept in units of 2^-32.
const ONE: u128 = 1 << 32;

/// A setting and what it comes to on each view, in the order of the views.
#[derive(Clone, Debug)]
pub(crate) struct Scored {
    pub(crate) config: AllocatorConfig,
    pub(crate) figures: Vec<Figures>,
    pub(crate) cost: Cost,
}

/// What is to be small: out-of-memory errors first, then reserved memory, then runtime allocations,
/// then keys to set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cost {
    pub(crate) num_ooms: u64,
    /// Sum over the views of reserved over live bytes, in units of 2^-32.
    pub(crate) ratio_sum: u128,
    pub(crate) num_device_alloc: u64,
    pub(crate) n_changed: usize,
}

impl Scored {
    pub(crate) fn new(config: AllocatorConfig, figures: Vec<Figures>, live_peaks: &[u64]) -> Self {
        let ratios = figures.iter().zip(live_peaks).map(|(one, live)| ratio(one, *live));
        let cost = Cost {
            num_ooms: figures.iter().map(num_failures).sum(),
            ratio_sum: ratios.sum(),
            num_device_alloc: figures.iter().map(|one| one.num_device_alloc).sum(),
            n_changed: n_changed(&config),
        };
        Self { config, figures, cost }
    }

    /// The order of a search; of equally good settings, the smaller values come first.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let values = || values_of(&self.config).cmp(&values_of(&other.config));
        self.cost.cmp(&other.cost).then_with(values)
    }

    /// Mean of reserved over live bytes.
    pub(crate) fn mean_ratio(&self) -> f64 {
        let n_views = self.figures.len().max(1) as f64;
        self.cost.ratio_sum as f64 / ONE as f64 / n_views
    }
}

/// Reserved over live bytes in units of 2^-32.
pub(crate) fn ratio(figures: &Figures, live_peak_bytes: u64) -> u128 {
    u128::from(figures.reserved_peak_bytes) * ONE / u128::from(live_peak_bytes.max(1))
}

/// The most bytes whose ratio is at most this.
pub(crate) fn bytes_at(ratio: u128, live_peak_bytes: u64) -> u64 {
    u64::try_from(ratio.saturating_mul(u128::from(live_peak_bytes)) / ONE).unwrap_or(u64::MAX)
}

pub(crate) const fn whole_ratio() -> u128 {
    ONE
}

/// A setting that did not get to the end counts as out of memory, for whatever reason.
pub(crate) fn num_failures(figures: &Figures) -> u64 {
    u64::from(figures.verdict != Verdict::Finished)
}
