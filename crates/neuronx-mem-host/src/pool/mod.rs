//! A pool of contiguous host memory that survives fragmentation.
//!
//! It reserves pages while memory is whole, in classes that the policy names; serves a request from the
//! smallest extent that holds it; and covers a large one with several chunks where the caller can take
//! that. The page source is never called under the pool's lock. The pool does not look at the memory, and
//! knows no device.

mod allocation;
mod class;
mod extents;
mod growth;
mod policy;
mod shadow;
mod state;
mod statistics;

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

pub use allocation::{HostAllocation, HostChunk};
pub use growth::ReserveReport;
pub use policy::{ClassPolicy, HostPoolPolicy, Preference, SplitPolicy};
use shadow::ShadowTicket;
pub use shadow::{DriverReport, DriverVerdict};
use state::State;
pub use statistics::{HostClassStatistics, HostPoolStatistics};

use crate::{HostError, PageSource};

/// The most that one request may have.
const LIMIT_BYTES: u64 = 1 << 47;

static NEXT_POOL_ID: AtomicU64 = AtomicU64::new(1);

/// Contiguous host memory in classes of pages.
///
/// ```
/// use neuronx_mem_host::{HostPool, HostPoolPolicy, HostShape, PageCachePressure, SimulatedHost};
///
/// let host = SimulatedHost::new(&HostShape::new().with_zone(0, "Normal", 512 << 20));
/// let pool = HostPool::new(HostPoolPolicy::default(), host.clone())?;
/// host.fill_page_cache(&PageCachePressure::with_seed(1));
/// // The driver would fail for ever here.
/// let tensor = pool.allocate(3_292_176)?;
/// assert_eq!(tensor.bytes(), 3_292_176);
/// // Larger than any class: several chunks, for a caller that can take them.
/// let list = pool.allocate_split(10 << 20)?;
/// assert_eq!(list.chunks().iter().map(|chunk| chunk.bytes()).sum::<u64>(), 10 << 20);
/// pool.free(list)?;
/// pool.free(tensor)?;
/// assert_eq!(pool.statistics().live_allocations, 0);
/// # Ok::<(), neuronx_mem_host::HostError>(())
/// ```
#[derive(Debug)]
pub struct HostPool<S: PageSource> {
    id: u64,
    policy: HostPoolPolicy,
    source: S,
    state: Mutex<State<S::Run>>,
}

impl<S: PageSource> HostPool<S> {
    /// Builds a pool and reserves what the policy asks for, as far as the source has it; what it got is
    /// in [`HostPool::statistics`]. Cost: one call of the source for each page of the reserve.
    ///
    /// # Errors
    ///
    /// [`HostError::InvalidPolicy`] for a policy that contradicts itself.
    pub fn new(policy: HostPoolPolicy, source: S) -> Result<Self, HostError> {
        policy.check()?;
        let state = State::new(&policy)?;
        let id = NEXT_POOL_ID.fetch_add(1, Ordering::Relaxed);
        let pool = Self { id, policy, source, state: Mutex::new(state) };
        pool.reserve();
        Ok(pool)
    }

    /// Takes contiguous memory: the smallest free extent that holds it, else a new page where the policy
    /// allows one and the source has it. O(log n) over the free extents, plus a call of the source.
    ///
    /// # Errors
    ///
    /// [`HostError::InvalidSize`] for 0 bytes or more than 2^47, [`HostError::NoExtent`] when neither
    /// helps.
    pub fn allocate(&self, bytes: u64) -> Result<HostAllocation, HostError> {
        check_size(bytes)?;
        let mut allocation = self.contiguous(bytes);
        let mut state = self.state.lock();
        if let Ok(allocation) = &mut allocation {
            state.note_allocation(allocation);
        } else {
            state.note_failure(bytes);
        }
        allocation
    }

    /// Takes memory for a caller that can use a scatter list: contiguous where that is possible, else the
    /// largest free extents, so that the chunks are few. All of it or nothing. O(chunks × log n) over the
    /// free extents, plus calls of the source.
    ///
    /// # Errors
    ///
    /// [`HostError::InvalidSize`] for 0 bytes or more than 2^47, [`HostError::NotSplittable`] when the
    /// bounds of the policy do not allow it.
    pub fn allocate_split(&self, bytes: u64) -> Result<HostAllocation, HostError> {
        check_size(bytes)?;
        let mut allocation = self.contiguous(bytes).or_else(|_| self.split(bytes));
        let mut state = self.state.lock();
        if let Ok(allocation) = &mut allocation {
            state.note_allocation(allocation);
        } else {
            state.note_failure(bytes);
        }
        allocation
    }

    /// Gives memory back; free neighbours within a page merge. A run of its own goes back to the source.
    /// O(chunks × log n) over the free extents.
    ///
    /// # Errors
    ///
    /// [`HostError::ForeignAllocation`] for what another pool made; the memory stays taken there.
    pub fn free(&self, allocation: HostAllocation) -> Result<(), HostError> {
        if allocation.pool_id != self.id {
            return Err(HostError::ForeignAllocation { owner: allocation.pool_id, this: self.id });
        }
        let mut released = Vec::new();
        let mut state = self.state.lock();
        state.note_free(allocation.bytes, allocation.shadow);
        for chunk in &allocation.chunks {
            released.extend(state.give_back(chunk.address, chunk.bytes));
        }
        drop(state);
        // The source hears of it here, without the lock.
        drop(released);
        Ok(())
    }

    /// One contiguous block, for an allocator that keeps addresses only.
    pub(crate) fn take_block(&self, bytes: u64) -> Result<u64, HostError> {
        self.allocate(bytes).map(|allocation| allocation.address())
    }

    /// Takes back a block of [`Self::take_block`].
    pub(crate) fn give_back_block(&self, address: u64, bytes: u64) {
        let released = {
            let mut state = self.state.lock();
            state.note_free(bytes, ShadowTicket::default());
            state.give_back(address, bytes)
        };
        // The source hears of it here, without the lock.
        drop(released);
    }

    /// Gives back to the source every page that is free as a whole, down to the reserve. Returns the
    /// bytes. O(pages × log n).
    pub fn trim(&self) -> u64 {
        let released = self.state.lock().surplus_pages();
        released.iter().map(crate::PageRun::bytes).sum()
    }

    /// Returns the figures of the pool. O(classes).
    pub fn statistics(&self) -> HostPoolStatistics {
        self.state.lock().statistics()
    }

    /// Returns what the driver's layout would have failed at, if the policy asks for that comparison.
    /// O(sizes seen).
    pub fn driver_report(&self) -> Option<DriverReport> {
        self.state.lock().driver_report()
    }

    /// Returns the policy. O(1).
    pub const fn policy(&self) -> &HostPoolPolicy {
        &self.policy
    }

    /// Returns whether somebody holds the lock, for the proof that the source is called without it.
    #[cfg(test)]
    pub(crate) fn is_locked(&self) -> bool {
        self.state.is_locked()
    }
}

const fn check_size(bytes: u64) -> Result<(), HostError> {
    if bytes == 0 || bytes > LIMIT_BYTES {
        return Err(HostError::InvalidSize { requested_bytes: bytes, limit_bytes: LIMIT_BYTES });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
