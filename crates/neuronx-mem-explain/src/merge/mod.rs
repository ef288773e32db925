//! The ranks of one job side by side: what each holds at its peak by category, who is out of line,
//! and the first allocation that is not the same everywhere.

mod directory;
mod diverge;
mod outlier;

use neuronx_mem_replay::TraceInput;

use crate::Sites;
use crate::lifetime::{Lifetime, Lifetimes};
use crate::run::{Run, StepRule};
use crate::{ExplainError, Input, ReadOptions};

pub use directory::{RankFile, rank_files};
pub use diverge::{Divergence, Variant};
pub use outlier::Outlier;

/// One rank.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rank {
    /// Its number, from the name of the file.
    pub rank: u64,
    /// Name of the input.
    pub input: String,
    /// Events.
    pub n_events: u64,
    /// Allocations.
    pub n_allocations: u64,
    /// Most bytes that tensors asked for at once.
    pub peak_bytes: u64,
    /// The event that first reached it.
    pub peak_event: u64,
    /// The peak by lifetime, in the order of [`Lifetime::ALL`].
    pub at_peak_bytes: [u64; 4],
    /// Lines that were left out.
    pub n_skipped: u64,
    /// Segment bytes that a snapshot shows; `None` for a trace.
    pub reserved_bytes: Option<u64>,
}

/// All ranks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Merged {
    /// The ranks, by number.
    pub ranks: Vec<Rank>,
    /// The figures that are out of line, by rank.
    pub outliers: Vec<Outlier>,
    /// The first allocation that is not the same on all ranks.
    pub divergence: Option<Divergence>,
    /// The sites that the divergence names.
    pub sites: Sites,
}

/// What is kept of a rank to find where it diverges: bytes, stream and place of each allocation.
pub(crate) type Sequence = Vec<(u64, u64, crate::SiteId)>;

impl Merged {
    /// Reads the ranks one by one and compares them. O(allocations); 24 bytes an allocation stay.
    ///
    /// # Errors
    ///
    /// As [`Input::read`] and [`Run::of`], of the first rank that fails.
    pub fn of(files: &[RankFile], options: &ReadOptions, rule: StepRule) -> Result<Self, ExplainError> {
        let mut sites = Sites::new(Default::default());
        let mut ranks = Vec::new();
        let mut sequences = Vec::new();
        for file in files {
            let input = Input::read(&TraceInput::File(file.path.clone()), options)?;
            let run = Run::of(&input)?;
            sequences.push(sequence(&run, &mut sites));
            ranks.push(rank(file.rank, &input, &run, rule)?);
        }
        let numbers: Vec<u64> = ranks.iter().map(|rank| rank.rank).collect();
        Ok(Self {
            outliers: outlier::outliers(&ranks),
            divergence: Divergence::first(&numbers, &sequences),
            ranks,
            sites,
        })
    }
}

fn sequence(run: &Run, sites: &mut Sites) -> Sequence {
    let mut known = vec![None; run.sites.len()];
    let mut site_of = |life: &crate::Life| {
        *known[life.site.index()].get_or_insert_with(|| sites.import(&run.sites, life.site, false))
    };
    run.lives.iter().map(|life| (life.bytes, life.stream, site_of(life))).collect()
}

fn rank(rank: u64, input: &Input, run: &Run, rule: StepRule) -> Result<Rank, ExplainError> {
    let lifetimes = Lifetimes::of(run, rule)?;
    let mut at_peak_bytes = [0_u64; Lifetime::ALL.len()];
    for life in run.live_at(run.peak_event) {
        let lifetime = lifetimes.of_life(life);
        let idx = Lifetime::ALL.iter().position(|each| *each == lifetime).unwrap_or(0);
        at_peak_bytes[idx] = at_peak_bytes[idx].saturating_add(life.bytes);
    }
    let reserved = |snapshot: &neuronx_mem_snapshot::Snapshot| {
        crate::Heap::of_snapshot(snapshot, input.device_idx(), None).reserved_bytes()
    };
    Ok(Rank {
        rank,
        input: input.name().to_owned(),
        n_events: run.n_events,
        n_allocations: run.lives.len() as u64,
        peak_bytes: run.peak_bytes,
        peak_event: run.peak_event,
        at_peak_bytes,
        n_skipped: run.n_skipped,
        reserved_bytes: input.snapshot().map(reserved),
    })
}
