//! Free blocks by order, and what they can be cut into.

use crate::PageOrder;

/// How many free blocks there are of each order, from order 0 on.
///
/// ```
/// use neuronx_mem_host::{FreeBlocks, PageOrder};
///
/// let mut blocks = FreeBlocks::new([5, 0, 0, 1]);
/// let order = PageOrder::new(1).unwrap();
/// assert_eq!(blocks.count(order), 4); // the block of order 3 makes four
/// assert_eq!(blocks.take(order, 3), 3);
/// assert_eq!(blocks.counts(), [5, 1, 0, 0]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FreeBlocks(Vec<u64>);

impl FreeBlocks {
    /// Makes blocks of these counts, order 0 first; orders from 52 on are left out.
    #[must_use]
    pub fn new(counts: impl IntoIterator<Item = u64>) -> Self {
        Self(counts.into_iter().take(52).collect())
    }

    /// Returns the counts, order 0 first. O(1).
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.0
    }

    /// Returns the largest order that the list has a place for. O(1).
    #[must_use]
    pub fn largest_order(&self) -> Option<PageOrder> {
        self.0.len().checked_sub(1).and_then(|order| PageOrder::new(u8::try_from(order).ok()?))
    }

    /// Returns all free pages. O(orders).
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.sum(|order| 1 << order, 0)
    }

    /// Returns how many blocks of this order can be had at once, cut from larger ones where needed.
    /// O(orders).
    #[must_use]
    pub fn count(&self, order: PageOrder) -> u64 {
        let from = usize::from(order.get());
        self.sum(|larger| 1 << (larger - from), from)
    }

    /// Takes up to `n_wanted` blocks of this order, the smallest suitable first, and keeps the rest of what
    /// was cut. Returns how many it got. O(orders²).
    pub fn take(&mut self, order: PageOrder, n_wanted: u64) -> u64 {
        let from = usize::from(order.get());
        let mut missing = n_wanted;
        for larger in from..self.0.len() {
            let parts = 1_u64 << (larger - from);
            let n_used = missing.div_ceil(parts).min(self.0[larger]);
            let n_got = n_used.saturating_mul(parts).min(missing);
            self.0[larger] -= n_used;
            missing -= n_got;
            // What is left of the last block is a block of each order whose bit is set.
            let rest = n_used.saturating_mul(parts) - n_got;
            for bit in 0..larger - from {
                self.0[from + bit] += (rest >> bit) & 1;
            }
        }
        n_wanted - missing
    }

    /// Adds the blocks of another list. O(orders).
    pub fn add(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        for (count, more) in self.0.iter_mut().zip(&other.0) {
            *count = count.saturating_add(*more);
        }
    }

    /// Takes the blocks of another list out, as far as they are there. O(orders).
    pub fn remove(&mut self, other: &Self) {
        for (count, less) in self.0.iter_mut().zip(&other.0) {
            *count = count.saturating_sub(*less);
        }
    }

    fn sum(&self, weight: impl Fn(usize) -> u64, from: usize) -> u64 {
        let counts = self.0.iter().enumerate().skip(from);
        counts.fold(0, |sum, (order, count)| sum.saturating_add(count.saturating_mul(weight(order))))
    }
}
