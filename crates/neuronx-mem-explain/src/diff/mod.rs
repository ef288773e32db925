//! What two runs allocate differently: by place, size and lifetime, never by address. Adds up; does
//! not say which of the two is right.

mod group;

use std::collections::BTreeMap;

use crate::lifetime::{Lifetime, Lifetimes};
use crate::run::{Run, StepRule};
use crate::{ExplainError, SizeClass};
use crate::{SiteId, Sites};

pub use group::{Amounts, DiffGroup, DiffRow};

/// How runs are compared.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct DiffOptions {
    /// What makes a step.
    pub steps: StepRule,
    /// Take a frame for the same wherever in its file it stands, for programs that were edited.
    pub ignores_lines: bool,
}

/// Two runs side by side.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Diff {
    /// The sites of both runs.
    pub sites: Sites,
    /// The sites that differ: the largest share of the difference between the peaks first, then the
    /// largest difference of all bytes allocated.
    pub groups: Vec<DiffGroup>,
    /// Most bytes that tensors asked for at once, first and second run.
    pub peak_bytes: [u64; 2],
    /// The events of those peaks.
    pub peak_event: [u64; 2],
    /// The phases of those events.
    pub peak_phase: [String; 2],
    /// Allocations.
    pub n_allocations: [u64; 2],
    /// Bytes of all allocations together.
    pub allocated_bytes: [u64; 2],
}

type Key = (SiteId, SizeClass, Lifetime);

impl Diff {
    /// Compares two runs. O(allocations · log groups).
    ///
    /// Every difference between the two peaks is in some group: the groups' live bytes at the second
    /// peak less those at the first add up to the difference exactly.
    ///
    /// ```
    /// use neuronx_mem_explain::{Diff, DiffOptions, Input, Run};
    /// use neuronx_mem_replay::TraceReader;
    ///
    /// let run = |text: &str| Run::of(&Input::from_events(TraceReader::new(text.as_bytes(), "tiny"))?);
    /// let diff = Diff::of(&run("m,load\na,1,512,0\n")?, &run("m,load\na,1,512,0\na,2,64,0\n")?, &DiffOptions::default())?;
    /// assert_eq!(diff.groups.len(), 1);
    /// assert_eq!(diff.groups[0].at_peak_change(), 64);
    /// # Ok::<(), neuronx_mem_explain::ExplainError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// None beyond those of finding steps; runs without steps are compared without them.
    pub fn of(first: &Run, second: &Run, options: &DiffOptions) -> Result<Self, ExplainError> {
        let mut sites = Sites::new(Default::default());
        let mut amounts: BTreeMap<Key, [Amounts; 2]> = BTreeMap::new();
        for (side, run) in [first, second].into_iter().enumerate() {
            let lifetimes = Lifetimes::of(run, options.steps)?;
            let mut known: Vec<Option<SiteId>> = vec![None; run.sites.len()];
            for life in &run.lives {
                let site = *known[life.site.index()]
                    .get_or_insert_with(|| sites.import(&run.sites, life.site, options.ignores_lines));
                let key = (site, SizeClass::of(life.bytes), lifetimes.of_life(life));
                amounts.entry(key).or_default()[side].add(life, run.peak_event);
            }
        }
        let runs = [first, second];
        Ok(Self {
            groups: group::groups(amounts),
            sites,
            peak_bytes: runs.map(|run| run.peak_bytes),
            peak_event: runs.map(|run| run.peak_event),
            peak_phase: runs.map(|run| run.phase_at(run.peak_event).to_owned()),
            n_allocations: runs.map(|run| run.lives.len() as u64),
            allocated_bytes: runs.map(allocated_bytes),
        })
    }

    /// Whether the runs allocate the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The second peak less the first, bytes.
    #[must_use]
    pub fn peak_change(&self) -> i128 {
        i128::from(self.peak_bytes[1]) - i128::from(self.peak_bytes[0])
    }
}

fn allocated_bytes(run: &Run) -> u64 {
    run.lives.iter().fold(0, |sum, life| sum.saturating_add(life.bytes))
}
