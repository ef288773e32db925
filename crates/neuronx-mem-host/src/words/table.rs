//! Who has how much: the table with columns of the current runtime, and the list of the older one.

use std::collections::BTreeMap;

use super::category::UsageCategory;
use super::line::{after, leading};
use super::size;

/// The memory of a device by use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsageTable {
    /// The rows in the order of the log.
    pub rows: Vec<UsageRow>,
    /// Names of loaded models, by number.
    pub models: BTreeMap<u64, String>,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsageRow {
    /// Whose memory.
    pub scope: UsageScope,
    /// Bytes by use, as printed to three digits behind the point; what does not apply is left out.
    pub usage: BTreeMap<UsageCategory, u64>,
}

/// Whose memory a row is about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsageScope {
    /// A device, or one of its stacks.
    Device {
        /// The device.
        device: u32,
        /// The stack of memory; `None` for all.
        stack: Option<u32>,
    },
    /// A core.
    Core(u32),
    /// A loaded model.
    Model(u64),
    /// Something else, as it was written.
    Other(String),
}

impl UsageTable {
    /// Returns the row that sums the others up: the first one. O(1).
    #[must_use]
    pub fn overall(&self) -> Option<&UsageRow> {
        self.rows.first()
    }
}

impl UsageRow {
    /// Returns the uses without the total, the largest first. O(n log n).
    #[must_use]
    pub fn largest(&self) -> Vec<(&UsageCategory, u64)> {
        let uses = self.usage.iter().filter(|(category, _)| **category != UsageCategory::Total);
        let mut uses: Vec<_> = uses.map(|(category, bytes)| (category, *bytes)).collect();
        uses.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        uses
    }

    /// Returns the total, or the sum where none was printed. O(n).
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        let sum = || self.largest().iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        self.usage.get(&UsageCategory::Total).copied().unwrap_or_else(sum)
    }
}

/// A table that is being read.
#[derive(Debug, Default)]
pub(super) struct TableReader {
    /// Words of each column so far; the first column has the names of the rows.
    headings: Vec<String>,
    pub(super) table: UsageTable,
}

impl TableReader {
    /// Takes a line with bars; false when it is none.
    pub(super) fn push(&mut self, line: &str) -> bool {
        if !line.contains('|') {
            return false;
        }
        let mut cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if cells.last().is_some_and(|cell| cell.is_empty()) {
            cells.pop();
        }
        match scope(cells[0]) {
            Some(scope) => self.row(scope, &cells[1..]),
            // Headings have several lines, the words of a column below each other.
            None if self.table.rows.is_empty() => self.heading(&cells),
            None => {}
        }
        true
    }

    /// Takes a line such as `1001: "1.0.4-/local/model"`; false when it is none.
    pub(super) fn push_name(&mut self, line: &str) -> bool {
        let Some((number, name)) = line.trim().split_once(':') else { return false };
        let name = name.trim();
        let (Ok(number), true) = (number.parse(), name.starts_with('"')) else { return false };
        self.table.models.insert(number, name.trim_matches('"').to_owned());
        true
    }

    fn heading(&mut self, cells: &[&str]) {
        self.headings.resize(self.headings.len().max(cells.len().saturating_sub(1)), String::new());
        for (heading, cell) in self.headings.iter_mut().zip(&cells[1..]) {
            *heading = format!("{heading} {cell}");
        }
    }

    fn row(&mut self, scope: UsageScope, cells: &[&str]) {
        let named = self.headings.iter().zip(cells);
        let usage =
            named.filter_map(|(heading, cell)| Some((UsageCategory::named(heading), size::parse(cell)?)));
        let usage = usage.collect();
        self.table.rows.push(UsageRow { scope, usage });
    }
}

/// `* model code: 30.562KB`, and the total without a star.
pub(super) fn list_item(line: &str) -> Option<(UsageCategory, u64)> {
    let line = line.trim();
    let (name, bytes) = line.strip_prefix('*').unwrap_or(line).split_once(':')?;
    let bytes = bytes.split("<--").next().unwrap_or_default();
    let category = UsageCategory::named(name);
    let is_known = line.starts_with('*') || !matches!(category, UsageCategory::Other(_));
    Some((category, size::parse(bytes).filter(|_| is_known)?))
}

/// `ND 0 Overall`, `ND 0 HBM 1`, `\_NC 4`, `\_NEFF 1001`, behind any prefix of a logger.
fn scope(text: &str) -> Option<UsageScope> {
    let number = |words: &str| after(text, words).and_then(leading);
    if let Some(model) = number("NEFF ") {
        return Some(UsageScope::Model(model));
    }
    let small = |number: u64| u32::try_from(number).ok();
    if let Some(device) = number("ND ").and_then(small) {
        return Some(UsageScope::Device { device, stack: number("HBM ").and_then(small) });
    }
    if let Some(core) = number("NC ").and_then(small) {
        return Some(UsageScope::Core(core));
    }
    (!text.is_empty()).then(|| UsageScope::Other(text.to_owned()))
}
