//! The figures that a budget limits. All come from replays on an empty pool, so that two runs of one
//! program compare whatever their processes did before.

use std::collections::HashSet;
use std::fmt;

use neuronx_mem::{AllocatorConfig, Device};
use neuronx_mem_replay::{Replay, Trace};

use crate::plan::tensors_of;
use crate::workload::Step;
use crate::{Machine, TuneError, Verdict, Workload, evaluate};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Figure {
    /// `peak`: most bytes that tensors ask for at once.
    Peak,
    /// `reserved`: most segment bytes held at once, starting with an empty pool.
    Reserved,
    /// `fragmentation_index`: of the device at the peak of allocated memory (allocator semantics §8).
    FragmentationIndex,
    /// `allocations_per_step`: most allocations between two synchronisations; of a mark, all in it.
    AllocationsPerStep,
    /// `growth_per_step`: median change of live bytes from one synchronisation to the next; of a mark,
    /// live bytes at its end less those at its start.
    GrowthPerStep,
}

impl Figure {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 5] =
        [Self::Peak, Self::Reserved, Self::FragmentationIndex, Self::AllocationsPerStep, Self::GrowthPerStep];

    /// The key in a budget file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Peak => "peak",
            Self::Reserved => "reserved",
            Self::FragmentationIndex => "fragmentation_index",
            Self::AllocationsPerStep => "allocations_per_step",
            Self::GrowthPerStep => "growth_per_step",
        }
    }

    /// Whether it counts bytes.
    #[must_use]
    pub const fn is_bytes(self) -> bool {
        matches!(self, Self::Peak | Self::Reserved | Self::GrowthPerStep)
    }
}

/// What part of a run a figure is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// All of it.
    Whole,
    /// From a mark with this label to the next mark; the worst where there are several.
    Mark(String),
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("whole run"),
            Self::Mark(label) => f.write_str(label),
        }
    }
}

/// The figures of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// Name of the input.
    pub input: String,
    /// Whether the replay ran out of memory, at which event.
    pub out_of_memory: Option<u64>,
    /// Scope, figure and value; bytes and counts are whole numbers.
    pub values: Vec<(Scope, Figure, f64)>,
}

impl Measured {
    /// One value.
    #[must_use]
    pub fn value(&self, scope: &Scope, figure: Figure) -> Option<f64> {
        let found = self.values.iter().find(|(other, of, _)| other == scope && *of == figure);
        found.map(|(_, _, value)| *value)
    }
}

/// Measures a run under a configuration on a device: replays it, and each mark by itself.
///
/// Of a mark, `reserved` is what an empty pool reserves that is first given the tensors alive at the
/// mark, in order of age, and then the mark's events.
///
/// # Errors
///
/// What reading or replaying the trace gives.
pub fn measure(trace: &Trace, config: &AllocatorConfig, machine: &Machine) -> Result<Measured, TuneError> {
    let workload = Workload::of_trace(trace)?;
    let figures = evaluate(&workload, config, machine, u64::MAX);
    let replay = Replay::new(machine.replay_options(*config));
    let analysed = replay.analyse_trace(trace, Device::segment_pool_analysis)?;
    let index = analysed.analysis_at_peak.unwrap_or(analysed.analysis_at_end).fragmentation_index;
    let out_of_memory = match figures.verdict {
        Verdict::OutOfMemory { event } => Some(event),
        _ => None,
    };
    let mut values = vec![
        (Scope::Whole, Figure::Peak, figures.active_peak_bytes as f64),
        (Scope::Whole, Figure::Reserved, figures.reserved_peak_bytes as f64),
        (Scope::Whole, Figure::FragmentationIndex, index),
    ];
    let (allocations, growth) = steps(&workload);
    values.extend(allocations.map(|n| (Scope::Whole, Figure::AllocationsPerStep, n as f64)));
    values.extend(growth.map(|bytes| (Scope::Whole, Figure::GrowthPerStep, bytes as f64)));
    for (label, figure, value) in marks(&workload, config, machine) {
        let scope = Scope::Mark(label);
        match values.iter_mut().find(|(other, of, _)| *other == scope && *of == figure) {
            Some((_, _, worst)) => *worst = worst.max(value),
            None => values.push((scope, figure, value)),
        }
    }
    Ok(Measured { input: trace.name().to_owned(), out_of_memory, values })
}

/// Most allocations in a step, and the median growth of live bytes a step.
fn steps(workload: &Workload) -> (Option<u64>, Option<i64>) {
    let mut live_in = vec![0u64; workload.n_slots()];
    let (mut live, mut n_allocations) = (0u64, 0u64);
    let (mut counts, mut levels) = (Vec::new(), Vec::new());
    for step in workload.steps() {
        match step {
            Step::Allocate { slot, size_idx } => {
                live_in[slot as usize] = workload.sizes()[size_idx as usize];
                live = live.saturating_add(live_in[slot as usize]);
                n_allocations += 1;
            }
            Step::Free { slot } => live = live.saturating_sub(live_in[slot as usize]),
            Step::Synchronize => {
                counts.push(std::mem::take(&mut n_allocations));
                levels.push(live);
            }
            Step::Nothing => {}
        }
    }
    let mut growth: Vec<i64> =
        levels.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]).cast_signed()).collect();
    growth.sort_unstable();
    (counts.into_iter().max(), growth.get(growth.len() / 2).copied())
}

fn marks(workload: &Workload, config: &AllocatorConfig, machine: &Machine) -> Vec<(String, Figure, f64)> {
    let tensors = tensors_of(workload);
    let ends = workload.marks().iter().skip(1).map(|(position, _)| *position).chain([workload.n_events()]);
    let mut values = Vec::new();
    for ((start, label), end) in workload.marks().iter().zip(ends) {
        let concerned = tensors.iter().filter(|tensor| tensor.birth < end && tensor.death >= *start);
        let births: HashSet<usize> = concerned.map(|tensor| tensor.birth).collect();
        let phase = workload.prefix(end).filter(|position| position >= *start || births.contains(&position));
        let figures = evaluate(&phase, config, machine, u64::MAX);
        let live_at = |at: usize| -> i128 {
            let live = tensors.iter().filter(|tensor| tensor.birth < at && tensor.death >= at);
            live.map(|tensor| i128::from(tensor.bytes)).sum()
        };
        let growth = live_at(end) - live_at(*start);
        let n_born = births.iter().filter(|birth| **birth >= *start).count();
        values.push((label.to_string(), Figure::Peak, figures.active_peak_bytes as f64));
        values.push((label.to_string(), Figure::Reserved, figures.reserved_peak_bytes as f64));
        values.push((label.to_string(), Figure::AllocationsPerStep, n_born as f64));
        values.push((label.to_string(), Figure::GrowthPerStep, growth as f64));
    }
    values
}
