//! One failure, from all the lines that are about it.

use std::collections::BTreeSet;

use super::event::{MemoryKind, Place};
use super::table::UsageTable;
use super::{UsageCategory, size};
use crate::{LARGEST_DRIVER_PAGE_BYTES, PageOrder, Remedy};

/// A request that failed, once or several times.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Incident {
    /// The first line about it.
    pub line: usize,
    /// Whose memory ran out.
    pub memory: MemoryKind,
    /// Bytes of the request.
    pub bytes: u64,
    /// Whether the bytes are exact, or as printed to three digits behind the point.
    pub is_exact: bool,
    /// How often it happened.
    pub times: u64,
    /// Where; `None` where the log does not say.
    pub place: Option<Place>,
    /// What it was for.
    pub usage: Option<String>,
    /// Names of tensors.
    pub tensors: BTreeSet<String>,
    /// Files with details.
    pub files: BTreeSet<String>,
    /// Cores that share the memory.
    pub sharing_cores: Vec<u32>,
    /// Who had how much, the last time.
    pub table: Option<UsageTable>,
}

/// A use of less than this part of the total is not worth a word.
const WORTH_PERCENT: u64 = 10;

impl Incident {
    pub(super) fn new(line: usize, memory: MemoryKind, bytes: u64, is_exact: bool) -> Self {
        Self {
            line,
            memory,
            bytes,
            is_exact,
            times: 1,
            place: None,
            usage: None,
            tensors: BTreeSet::new(),
            files: BTreeSet::new(),
            sharing_cores: Vec::new(),
            table: None,
        }
    }

    /// Returns what is behind the failure, a sentence each. O(uses).
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        if self.memory == MemoryKind::Host {
            if let Some(order) = PageOrder::of(self.bytes) {
                reasons
                    .push(format!("the kernel had no free block of order {order}, {} bytes", order.bytes()));
            }
            if self.bytes > LARGEST_DRIVER_PAGE_BYTES {
                reasons.push(format!(
                    "the driver's reserve has no class above {LARGEST_DRIVER_PAGE_BYTES} bytes, whatever its size"
                ));
            } else {
                reasons.push("the driver's reserve was used up or never complete".to_owned());
            }
            return reasons;
        }
        if let [_, _, ..] = self.sharing_cores[..] {
            let cores: Vec<String> = self.sharing_cores.iter().map(u32::to_string).collect();
            reasons.push(format!("cores {} share this memory", cores.join(" and ")));
        }
        let total = self.table.as_ref().and_then(UsageTable::overall).map_or(0, |row| row.total_bytes());
        for (category, bytes) in self.main_uses() {
            let percent = u128::from(bytes) * 100 / u128::from(total.max(1));
            reasons.push(format!("{category} had {bytes} bytes, {percent} % of {total}"));
        }
        reasons
    }

    /// Returns what helps against the main uses of device memory; none for host memory. O(uses).
    #[must_use]
    pub fn advice(&self) -> Vec<&'static str> {
        let mut advice: Vec<&'static str> = Vec::new();
        if self.memory == MemoryKind::Device {
            for (category, _) in self.main_uses() {
                if !advice.contains(&category.advice()) {
                    advice.push(category.advice());
                }
            }
            if advice.is_empty() {
                advice.push(UsageCategory::Tensors.advice());
            }
        }
        advice
    }

    /// Returns what helps against fragmented host memory; none for device memory. O(1).
    #[must_use]
    pub fn remedies(&self) -> Vec<Remedy> {
        match self.memory {
            MemoryKind::Host => Remedy::for_failure(self.bytes),
            MemoryKind::Device => Vec::new(),
        }
    }

    /// Whether another report of this size may be about the same request.
    pub(super) fn is_about(&self, memory: MemoryKind, bytes: u64, is_exact: bool) -> bool {
        self.memory == memory
            && match (self.is_exact, is_exact) {
                (true, true) => self.bytes == bytes,
                (true, false) => size::is_about(bytes, self.bytes),
                (false, _) => size::is_about(self.bytes, bytes),
            }
    }

    fn main_uses(&self) -> Vec<(UsageCategory, u64)> {
        let Some(row) = self.table.as_ref().and_then(UsageTable::overall) else { return Vec::new() };
        let least = row.total_bytes() / 100 * WORTH_PERCENT;
        let uses = row.largest().into_iter().filter(|(_, bytes)| *bytes > 0 && *bytes >= least);
        uses.map(|(category, bytes)| (category.clone(), bytes)).collect()
    }
}
