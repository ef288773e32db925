//! The findings so far: bounded, each kind of mistake at one place once.

use crate::{BlockFacts, Finding, FindingKind};

#[derive(Clone, Debug)]
pub(crate) struct Log<S> {
    device: u32,
    kept: Vec<Finding<S>>,
    max_kept: usize,
    /// Findings that were different from all kept ones; those beyond the limit are counted only.
    n_different: u64,
    /// All, repeated ones too.
    n_seen: u64,
}

/// The three stacks of a finding.
pub(crate) struct Stacks<S> {
    pub(crate) allocated: Option<S>,
    pub(crate) freed: Option<S>,
    pub(crate) used: Option<S>,
}

impl<S: Clone + PartialEq> Log<S> {
    pub(crate) fn new(device: u32, max_kept: usize) -> Self {
        Self { device, kept: Vec::new(), max_kept, n_different: 0, n_seen: 0 }
    }

    /// Adds a finding, or counts it to one that differs in numbers only; returns it with its number.
    pub(crate) fn add(
        &mut self,
        kind: FindingKind,
        block: Option<BlockFacts>,
        stacks: Stacks<S>,
    ) -> Finding<S> {
        self.n_seen += 1;
        let Stacks { allocated, freed, used } = stacks;
        let has_stack = allocated.is_some() || freed.is_some() || used.is_some();
        let is_same = |known: &&mut Finding<S>| {
            has_stack
                && known.kind.name() == kind.name()
                && (&known.allocated, &known.freed, &known.used) == (&allocated, &freed, &used)
        };
        if let Some(known) = self.kept.iter_mut().find(is_same) {
            known.times += 1;
            return Finding { kind, block, ..known.clone() };
        }
        self.n_different += 1;
        let (number, device) = (self.n_different, self.device);
        let finding = Finding { number, times: 1, device, kind, block, allocated, freed, used };
        if self.kept.len() < self.max_kept {
            self.kept.push(finding.clone());
        }
        finding
    }

    pub(crate) fn kept(&self) -> &[Finding<S>] {
        &self.kept
    }

    pub(crate) fn n_seen(&self) -> u64 {
        self.n_seen
    }
}
