//! The caches of all classes: several shards for each small class, one for each large one.
//!
//! A thread has a home among the shards; one whose shard is empty looks into the others before the pool
//! is asked, so that no memory hides in a shard.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;

use super::class::SizeClass;
use super::shard::Shard;
use super::statistics::StagingStatistics;

/// Shards of a class up to 1 MiB.
const N_SHARDS: usize = 8;

/// Blocks that one shard of a small class keeps: about 128 KiB of them.
const SHARD_BYTES: u64 = 128 << 10;
const MIN_BLOCKS: usize = 2;
const MAX_BLOCKS: usize = 64;

const N_SMALL: usize = SizeClass::SMALL_COUNT * N_SHARDS;
const N_LARGE: usize = SizeClass::COUNT - SizeClass::SMALL_COUNT;

static NEXT_HOME: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static HOME: Cell<usize> = const { Cell::new(usize::MAX) };
}

#[derive(Debug)]
pub(super) struct Caches {
    shards: Box<[CachePadded<Mutex<Shard>>]>,
    max_large_bytes: u64,
    /// Bytes in the shards of large classes.
    large_bytes: AtomicU64,
}

impl Caches {
    pub(super) fn new(max_large_bytes: u64) -> Self {
        let shards = (0..N_SMALL + N_LARGE).map(|_| CachePadded::default()).collect();
        Self { shards, max_large_bytes, large_bytes: AtomicU64::new(0) }
    }

    #[inline]
    pub(super) fn take(&self, class: SizeClass, bytes: u64) -> Option<u64> {
        let idx = shard_idx(class);
        // The lock ends with this statement: stealing takes others, and this one again.
        let own = self.shards[idx].lock().take(bytes);
        let taken = own.or_else(|| self.steal(class, idx));
        if taken.is_some() && idx >= N_SMALL {
            self.large_bytes.fetch_sub(class.bytes(), Ordering::Relaxed);
        }
        taken
    }

    /// Keeps a block; returns those that are too many.
    #[inline]
    pub(super) fn give_back(&self, class: SizeClass, address: u64, bytes: u64) -> Option<Vec<u64>> {
        let idx = shard_idx(class);
        let mut shard = self.shards[idx].lock();
        shard.note_return(bytes);
        if idx >= N_SMALL {
            if !self.claim(class.bytes()) {
                return Some(vec![address]);
            }
            shard.put(address);
            return None;
        }
        shard.put(address);
        let max_blocks = max_blocks(class);
        if shard.len() > max_blocks { Some(shard.drain_to(max_blocks / 2)) } else { None }
    }

    /// Takes out every block.
    pub(super) fn drain(&self, release: &mut dyn FnMut(SizeClass, u64)) {
        for (idx, shard) in self.shards.iter().enumerate() {
            let class = class_of(idx);
            let blocks = shard.lock().drain_to(0);
            if idx >= N_SMALL {
                self.large_bytes.fetch_sub(class.bytes() * blocks.len() as u64, Ordering::Relaxed);
            }
            blocks.into_iter().for_each(|address| release(class, address));
        }
    }

    /// Takes back what [`Self::take`] has counted for a request that then failed.
    pub(super) fn note_failure(&self, class: SizeClass, bytes: u64) {
        self.shards[shard_idx(class)].lock().note_failure(bytes);
    }

    pub(super) fn statistics(&self, reserved_bytes: u64, growths: u64, flushes: u64) -> StagingStatistics {
        let mut sum = StagingStatistics { reserved_bytes, growths, flushes, ..StagingStatistics::default() };
        for (class_idx, blocks) in self.live_by_class(&mut sum).into_iter().enumerate() {
            sum.live_blocks = sum.live_blocks.wrapping_add(blocks);
            let bytes = blocks.wrapping_mul(SizeClass::at(class_idx).bytes());
            sum.held_bytes = sum.held_bytes.wrapping_add(bytes);
        }
        sum
    }

    /// Live blocks of each class; the other figures are added to `sum` on the way.
    fn live_by_class(&self, sum: &mut StagingStatistics) -> Vec<u64> {
        let mut live = vec![0_u64; SizeClass::COUNT];
        for (idx, shard) in self.shards.iter().enumerate() {
            let class = class_of(idx);
            let shard = shard.lock();
            sum.allocations += shard.allocations;
            sum.hits += shard.hits;
            sum.frees += shard.frees;
            sum.failures += shard.failures;
            sum.live_bytes = sum.live_bytes.wrapping_add(shard.live_bytes);
            sum.cached_bytes += shard.len() as u64 * class.bytes();
            let blocks = &mut live[class.index()];
            *blocks = blocks.wrapping_add(shard.allocations).wrapping_sub(shard.frees);
        }
        live
    }

    /// A block of another shard of the class; counts as a hit.
    #[cold]
    fn steal(&self, class: SizeClass, home_idx: usize) -> Option<u64> {
        if home_idx >= N_SMALL {
            return None;
        }
        let first = class.index() * N_SHARDS;
        let others = (first..first + N_SHARDS).filter(|idx| *idx != home_idx);
        let address = others.into_iter().find_map(|idx| self.shards[idx].lock().steal())?;
        self.shards[home_idx].lock().hits += 1;
        Some(address)
    }

    /// Room for so many bytes of large blocks.
    fn claim(&self, bytes: u64) -> bool {
        let add = |cached: u64| cached.checked_add(bytes).filter(|sum| *sum <= self.max_large_bytes);
        self.large_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }
}

/// The most blocks that one shard of this class keeps.
#[inline]
fn max_blocks(class: SizeClass) -> usize {
    usize::try_from(SHARD_BYTES / class.bytes()).unwrap_or(MAX_BLOCKS).clamp(MIN_BLOCKS, MAX_BLOCKS)
}

#[inline]
fn shard_idx(class: SizeClass) -> usize {
    if class.index() < SizeClass::SMALL_COUNT {
        class.index() * N_SHARDS + home()
    } else {
        N_SMALL + class.index() - SizeClass::SMALL_COUNT
    }
}

const fn class_of(shard_idx: usize) -> SizeClass {
    let is_small = shard_idx < N_SMALL;
    SizeClass::at(if is_small { shard_idx / N_SHARDS } else { SizeClass::SMALL_COUNT + shard_idx - N_SMALL })
}

/// This thread's place among the shards, below [`N_SHARDS`].
#[inline]
fn home() -> usize {
    HOME.with(|home| {
        if home.get() == usize::MAX {
            home.set(NEXT_HOME.fetch_add(1, Ordering::Relaxed) % N_SHARDS);
        }
        home.get()
    })
}

#[cfg(test)]
mod tests {
    use super::{N_SHARDS, N_SMALL, SizeClass, class_of, max_blocks, shard_idx};

    #[test]
    fn small_classes_are_bounded_together() {
        let bound = |idx| max_blocks(SizeClass::at(idx)) as u64 * SizeClass::at(idx).bytes();
        let bytes: u64 = (0..SizeClass::SMALL_COUNT).map(bound).sum::<u64>() * N_SHARDS as u64;
        assert!(bytes < 320 << 20, "{bytes}");
        assert_eq!(SizeClass::at(SizeClass::SMALL_COUNT - 1).bytes(), 1 << 20);
    }

    #[test]
    fn shards_and_classes_agree() {
        for idx in 0..SizeClass::COUNT {
            let class = SizeClass::at(idx);
            let shard = shard_idx(class);
            assert_eq!((class_of(shard), shard < N_SMALL), (class, class.bytes() <= 1 << 20));
        }
    }
}
