//! The oldest entries of a walk, in bounded memory.

use std::collections::BinaryHeap;
use std::time::SystemTime;

use crate::CacheKey;

/// An entry as the walk saw it. Ordered by last use, then by key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Record {
    pub(super) used: SystemTime,
    pub(super) key: CacheKey,
    pub(super) length_bytes: u64,
}

/// Keeps the oldest records offered: as many as have the wanted bytes, and never more than a bound.
#[derive(Debug)]
pub(super) struct Oldest {
    /// Youngest on top.
    heap: BinaryHeap<Record>,
    held_bytes: u64,
    n_most: usize,
    wanted_bytes: u64,
}

impl Oldest {
    pub(super) fn new(n_most: usize, wanted_bytes: u64) -> Self {
        Self { heap: BinaryHeap::new(), held_bytes: 0, n_most: n_most.max(1), wanted_bytes }
    }

    pub(super) fn offer(&mut self, record: Record) {
        let is_full = self.heap.len() >= self.n_most || self.held_bytes >= self.wanted_bytes;
        if is_full && self.heap.peek().is_some_and(|youngest| *youngest <= record) {
            return;
        }
        self.heap.push(record);
        self.held_bytes = self.held_bytes.saturating_add(record.length_bytes);
        while let Some(youngest) = self.heap.peek() {
            let without = self.held_bytes - youngest.length_bytes.min(self.held_bytes);
            if self.heap.len() <= self.n_most && without < self.wanted_bytes {
                return;
            }
            self.held_bytes = without;
            self.heap.pop();
        }
    }

    /// By key, so that neighbours on the disk go together. All of them go; their ages have done
    /// their work.
    pub(super) fn into_shard_order(self) -> Vec<Record> {
        let mut records = self.heap.into_vec();
        records.sort_unstable_by_key(|record| record.key);
        records
    }
}
