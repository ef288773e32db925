//! Groups of allocations of both runs, and their order.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::SiteId;
use crate::lifetime::Lifetime;
use crate::{Life, SizeClass};

/// What one run allocated in one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Amounts {
    /// Allocations.
    pub n_allocations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those live at the run's peak.
    pub n_at_peak: u64,
    /// Their bytes.
    pub at_peak_bytes: u64,
}

/// One size and lifetime of a site, in both runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffRow {
    /// Sizes.
    pub size: SizeClass,
    /// How long the tensors live.
    pub lifetime: Lifetime,
    /// First and second run.
    pub amounts: [Amounts; 2],
}

/// One site that the runs use differently.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffGroup {
    /// The site.
    pub site: SiteId,
    /// The sizes and lifetimes that differ, in the order of the groups.
    pub rows: Vec<DiffRow>,
}

impl Amounts {
    pub(super) fn add(&mut self, life: &Life, peak_event: u64) {
        self.n_allocations += 1;
        self.bytes = self.bytes.saturating_add(life.bytes);
        if life.is_live_at(peak_event) {
            self.n_at_peak += 1;
            self.at_peak_bytes = self.at_peak_bytes.saturating_add(life.bytes);
        }
    }
}

impl DiffRow {
    /// Bytes live at the second peak less those at the first.
    #[must_use]
    pub fn at_peak_change(&self) -> i128 {
        i128::from(self.amounts[1].at_peak_bytes) - i128::from(self.amounts[0].at_peak_bytes)
    }

    /// Bytes allocated by the second run less those by the first.
    #[must_use]
    pub fn bytes_change(&self) -> i128 {
        i128::from(self.amounts[1].bytes) - i128::from(self.amounts[0].bytes)
    }

    fn is_different(&self) -> bool {
        self.amounts[0] != self.amounts[1]
    }
}

impl DiffGroup {
    /// As [`DiffRow::at_peak_change`], of all rows.
    #[must_use]
    pub fn at_peak_change(&self) -> i128 {
        self.rows.iter().map(DiffRow::at_peak_change).sum()
    }

    /// As [`DiffRow::bytes_change`], of all rows.
    #[must_use]
    pub fn bytes_change(&self) -> i128 {
        self.rows.iter().map(DiffRow::bytes_change).sum()
    }
}

/// The rows that differ, by site, the largest difference first.
pub(super) fn groups(amounts: BTreeMap<(SiteId, SizeClass, Lifetime), [Amounts; 2]>) -> Vec<DiffGroup> {
    let mut groups: Vec<DiffGroup> = Vec::new();
    for ((site, size, lifetime), amounts) in amounts {
        let row = DiffRow { size, lifetime, amounts };
        if !row.is_different() {
            continue;
        }
        match groups.last_mut().filter(|group| group.site == site) {
            Some(group) => group.rows.push(row),
            None => groups.push(DiffGroup { site, rows: vec![row] }),
        }
    }
    for group in &mut groups {
        group.rows.sort_by_key(|row| {
            let changes = (row.at_peak_change().abs(), row.bytes_change().abs());
            (Reverse(changes), row.size, row.lifetime)
        });
    }
    groups.sort_by_key(|group| {
        let changes = (group.at_peak_change().abs(), group.bytes_change().abs());
        (Reverse(changes), group.site)
    });
    groups
}
