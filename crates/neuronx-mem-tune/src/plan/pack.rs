//! The search for a packing: several orders, then the tensors that stand highest are placed earlier,
//! as long as that helps or until the time is over.

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use super::bound::live_extent_peak;
use super::layout::Plan;
use super::place::{Packing, first_fit};
use super::tensors::{Tensor, tensors_of};
use crate::Workload;

/// Settings of [`plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanOptions {
    /// Stops improving after this time; `None` stops after `rounds`.
    pub time_budget: Option<Duration>,
    /// Rounds of improvement, at most.
    pub rounds: usize,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self { time_budget: None, rounds: 200 }
    }
}

/// Packs all tensors of a workload into one range of addresses.
///
/// ```
/// use neuronx_mem_replay::TraceReader;
/// use neuronx_mem_tune::{PlanOptions, Workload, plan};
///
/// let trace = TraceReader::new("a,1,128,0\na,2,64,0\nf,1\na,3,128,0\n".as_bytes(), "three tensors");
/// let plan = plan(&Workload::read(trace)?, &PlanOptions::default());
/// assert_eq!((plan.planned_peak_bytes, plan.lower_bound_bytes), (192, 192));
/// # Ok::<(), neuronx_mem_tune::TuneError>(())
/// ```
#[must_use]
pub fn plan(workload: &Workload, options: &PlanOptions) -> Plan {
    let started = Instant::now();
    let is_over = || options.time_budget.is_some_and(|budget| started.elapsed() >= budget);
    let tensors = tensors_of(workload);
    let (bound, moment) = live_extent_peak(&tensors);
    let mut best: Option<(Packing, Vec<u32>)> = None;
    for order in orders(&tensors, moment) {
        let limit = best.as_ref().map_or(u64::MAX, |(packing, _)| packing.peak - 1);
        if let Some(packing) = first_fit(&tensors, &order, limit) {
            best = Some((packing, order));
        }
        let is_perfect = best.as_ref().is_some_and(|(packing, _)| packing.peak == bound);
        if is_perfect || (is_over() && best.is_some()) {
            break;
        }
    }
    let (mut packing, mut order) =
        best.unwrap_or_else(|| (Packing { offsets: Vec::new(), peak: 0 }, Vec::new()));
    for _ in 0..options.rounds {
        if packing.peak <= bound || is_over() {
            break;
        }
        order = highest_first(&tensors, &packing, &order);
        // A round may make it worse on the way to something better; the best stays.
        let Some(next) = first_fit(&tensors, &order, u64::MAX) else { break };
        let high = next.peak;
        if high < packing.peak {
            packing = next;
        } else {
            order = highest_first(&tensors, &next, &order);
        }
    }
    Plan::new(workload, &tensors, packing, bound)
}

/// Orders that work well on one kind of program or another.
fn orders(tensors: &[Tensor], moment: usize) -> Vec<Vec<u32>> {
    let all: Vec<u32> = (0..tensors.len()).filter_map(|idx| u32::try_from(idx).ok()).collect();
    let of = |idx: &u32| &tensors[*idx as usize];
    let life = |tensor: &Tensor| tensor.death - tensor.birth;
    let is_at_peak = |tensor: &Tensor| tensor.birth <= moment && moment < tensor.death;
    let area = |tensor: &Tensor| tensor.extent as u128 * life(tensor) as u128;
    let sorted = |key: &dyn Fn(&Tensor) -> (bool, u128)| {
        let mut order = all.clone();
        order.sort_by_key(|idx| (Reverse(key(of(idx))), *idx));
        order
    };
    vec![
        sorted(&|tensor| (false, life(tensor) as u128)),
        sorted(&|tensor| (is_at_peak(tensor), life(tensor) as u128)),
        sorted(&|tensor| (false, u128::from(tensor.extent))),
        sorted(&|tensor| (false, area(tensor))),
        sorted(&|tensor| (is_at_peak(tensor), u128::from(tensor.extent))),
    ]
}

/// Tensors whose end lies above what is aimed at come first; the others keep their order.
fn highest_first(tensors: &[Tensor], packing: &Packing, order: &[u32]) -> Vec<u32> {
    let aim = packing.peak - packing.peak / 1000;
    let end = |idx: u32| packing.offsets[idx as usize] + tensors[idx as usize].extent;
    let (mut high, low): (Vec<u32>, Vec<u32>) = order.iter().partition(|idx| end(**idx) >= aim);
    high.extend(low);
    high
}
