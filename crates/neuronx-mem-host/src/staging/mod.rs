//! A caching allocator of host memory for staging: copies to and from a device.
//!
//! Freed blocks stay in caches by size class, so that the next request of the class takes a lock that
//! nobody else wants and no system call. Classes are an eighth of a doubling apart: a request of 1.1 MiB
//! has 1.125 MiB, not 2. What the caches do not have comes from a [`HostPool`] over the page source.

mod block;
mod buffer;
mod cache;
mod class;
mod options;
mod shard;
mod statistics;

use std::sync::atomic::{AtomicU64, Ordering};

pub use block::StagingBlock;
pub use buffer::StagingBuffer;
use cache::Caches;
pub use class::SizeClass;
pub use options::StagingOptions;
pub use statistics::StagingStatistics;

use crate::{HostError, HostPool, PageSource};

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Host memory for staging, with caches. Shared by reference between threads.
///
/// ```
/// use neuronx_mem_host::{Locking, MappedOptions, MappedPages, StagingAllocator, StagingOptions};
///
/// let pages = MappedPages::new(MappedOptions::default().with_locking(Locking::IfAllowed));
/// let staging = StagingAllocator::new(pages, StagingOptions::default())?;
/// let mut buffer = staging.allocate(1_100_000)?;
/// buffer.fill(7);
/// assert_eq!((buffer.len(), buffer.capacity_bytes()), (1_100_000, 1_179_648));
/// drop(buffer);
/// let again = staging.allocate(1_150_000)?; // the same memory
/// assert_eq!(staging.statistics().hits, 1);
/// # drop(again);
/// # Ok::<(), neuronx_mem_host::HostError>(())
/// ```
#[derive(Debug)]
pub struct StagingAllocator<S: PageSource> {
    id: u64,
    options: StagingOptions,
    caches: Caches,
    pool: HostPool<S>,
    n_flushes: AtomicU64,
}

impl<S: PageSource> StagingAllocator<S> {
    /// Makes an allocator; takes nothing from the source yet. O(classes).
    ///
    /// # Errors
    ///
    /// [`HostError::InvalidPolicy`] when the limit is 0.
    pub fn new(source: S, options: StagingOptions) -> Result<Self, HostError> {
        let pool = HostPool::new(options.policy()?, source)?;
        let caches = Caches::new(options.max_cached_bytes);
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Ok(Self { id, options, caches, pool, n_flushes: AtomicU64::new(0) })
    }

    /// Takes a buffer, which goes back when it is dropped. Its content is what the last user left, or
    /// zeros. O(1) from the caches; O(log n) and perhaps a call of the source otherwise.
    ///
    /// # Errors
    ///
    /// [`HostError::InvalidSize`] for 0 bytes or more than 2^47; [`HostError::NoExtent`] when the limit or
    /// the source has no more, not even after the caches were emptied.
    #[inline]
    pub fn allocate(&self, bytes: u64) -> Result<StagingBuffer<'_, S>, HostError> {
        let class = SizeClass::of(bytes)?;
        let address = match self.caches.take(class, bytes) {
            Some(address) => address,
            None => self.take_from_pool(class, bytes)?,
        };
        Ok(StagingBuffer::new(self, address, bytes, class))
    }

    /// Takes back a block that was detached from its buffer. O(1).
    ///
    /// # Errors
    ///
    /// [`HostError::ForeignAllocation`] for a block of another allocator; its memory stays taken there.
    pub fn attach(&self, block: StagingBlock) -> Result<StagingBuffer<'_, S>, HostError> {
        if block.owner == self.id {
            Ok(StagingBuffer::new(self, block.address, block.bytes, block.class))
        } else {
            Err(HostError::ForeignAllocation { owner: block.owner, this: self.id })
        }
    }

    /// Empties the caches and gives every page back that is free as a whole. Returns the bytes that the
    /// source got back. O(blocks in the caches × log n).
    pub fn trim(&self) -> u64 {
        let before = self.pool.statistics().reserved_bytes;
        self.flush();
        self.pool.trim();
        before.saturating_sub(self.pool.statistics().reserved_bytes)
    }

    /// Returns the figures; exact while no other thread allocates. O(classes × shards).
    pub fn statistics(&self) -> StagingStatistics {
        let pool = self.pool.statistics();
        self.caches.statistics(pool.reserved_bytes, pool.growths, self.n_flushes.load(Ordering::Relaxed))
    }

    /// Returns the options. O(1).
    pub const fn options(&self) -> StagingOptions {
        self.options
    }

    /// A block that no cache has, with the caches emptied if nothing else helps.
    #[cold]
    fn take_from_pool(&self, class: SizeClass, bytes: u64) -> Result<u64, HostError> {
        let take = || self.pool.take_block(class.bytes());
        let address = take().or_else(|_| {
            self.n_flushes.fetch_add(1, Ordering::Relaxed);
            self.flush();
            self.pool.trim();
            take()
        });
        match address {
            Ok(address) => Ok(address),
            Err(error) => {
                self.caches.note_failure(class, bytes);
                Err(error)
            }
        }
    }

    fn flush(&self) {
        self.caches.drain(&mut |class, address| self.pool.give_back_block(address, class.bytes()));
    }

    #[inline]
    fn give_back(&self, address: u64, bytes: u64, class: SizeClass) {
        if let Some(surplus) = self.caches.give_back(class, address, bytes) {
            self.release(class, surplus.as_slice());
        }
    }

    #[cold]
    fn release(&self, class: SizeClass, surplus: &[u64]) {
        surplus.iter().for_each(|address| self.pool.give_back_block(*address, class.bytes()));
    }
}

#[cfg(test)]
mod tests;
