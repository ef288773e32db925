//! Where the pool meets its source: the reserve, growth on a miss, and growth for a split.
//!
//! Every call of the source is made without the lock. What is on its way counts against the limits, so
//! that two threads do not exceed them together.

use super::allocation::{HostAllocation, HostChunk};
use super::class::Class;
use super::policy::SplitPolicy;
use super::shadow::ShadowTicket;
use super::state::Chunks;
use super::{HostPool, Preference};
use crate::order::round_up;
use crate::{HostError, PAGE_BYTES, PageRun, PageSource};

/// What a call to [`HostPool::reserve`] got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReserveReport {
    /// Pages that were missing.
    pub missing_pages: u64,
    /// Bytes of the pages that were added.
    pub added_bytes: u64,
    /// Bytes of missing pages that the source does not have; some may have become smaller pages.
    pub refused_bytes: u64,
}

impl<S: PageSource> HostPool<S> {
    /// Brings every class back to its reserve, largest page first; what a class does not get goes to
    /// the next smaller one where the policy says so. While a class is short, what was spilled before goes
    /// back first, as far as it is free. Call it while memory is whole: at the start, which
    /// [`HostPool::new`] does, or after caches were dropped. Cost: one call of the source for each page.
    pub fn reserve(&self) -> ReserveReport {
        if self.state.lock().classes.iter().any(Class::is_short) {
            self.trim();
        }
        let mut report = ReserveReport { missing_pages: 0, added_bytes: 0, refused_bytes: 0 };
        let mut spilled_bytes = 0;
        for class_idx in (0..self.policy.classes.len()).rev() {
            let class = self.policy.classes[class_idx];
            let own = {
                let state = self.state.lock();
                class.reserve_bytes.saturating_sub(state.classes[class_idx].bytes()) / class.page_bytes
            };
            let n_wanted = own + spilled_bytes / class.page_bytes;
            report.missing_pages += own;
            let mut n_got = 0;
            while n_got < n_wanted && self.grow(class_idx, n_got >= own) {
                n_got += 1;
            }
            report.added_bytes += n_got * class.page_bytes;
            report.refused_bytes += own.saturating_sub(n_got) * class.page_bytes;
            spilled_bytes = if self.policy.spills_down {
                (n_wanted - n_got) * class.page_bytes + spilled_bytes % class.page_bytes
            } else {
                0
            };
        }
        report
    }

    /// One chunk: from the extents there are, or from a new page, or as a run of its own.
    pub(super) fn contiguous(&self, bytes: u64) -> Result<HostAllocation, HostError> {
        let (home, found) = {
            let mut state = self.state.lock();
            (state.home(bytes), state.take_preferred(bytes, self.policy.preference))
        };
        let found = found
            .or_else(|| self.take_from_new_page(bytes, home))
            .or_else(|| self.own_run(bytes))
            // Somebody may have given something back, and larger classes come last for `Growth`.
            .or_else(|| self.state.lock().take_preferred(bytes, Preference::LargerClasses));
        match found {
            Some(address) => Ok(self.allocation(bytes, Chunks::from_buf([HostChunk { address, bytes }]))),
            None => Err(self.state.lock().no_extent(bytes)),
        }
    }

    /// Several chunks: from the extents there are, else from pages that are added as far as it takes.
    pub(super) fn split(&self, bytes: u64) -> Result<HostAllocation, HostError> {
        let policy = self.policy.split;
        let SplitPolicy::Bounded { max_chunks, .. } = policy else {
            return Err(self.state.lock().not_splittable(bytes, policy));
        };
        // The largest pages first: fewer chunks. A class that cannot grow any more is left for the next.
        let mut class_idx = self.policy.classes.len();
        for _ in 0..=max_chunks + self.policy.classes.len() {
            if let Some(chunks) = self.state.lock().take_split(bytes, policy) {
                return Ok(self.allocation(bytes, chunks));
            }
            while class_idx > 0 && !self.grow(class_idx - 1, false) {
                class_idx -= 1;
            }
            if class_idx == 0 {
                break;
            }
        }
        Err(self.state.lock().not_splittable(bytes, policy))
    }

    fn allocation(&self, bytes: u64, chunks: Chunks) -> HostAllocation {
        HostAllocation { pool_id: self.id, bytes, chunks, shadow: ShadowTicket::default() }
    }

    /// An extent of a page that was just added to the first class that can grow.
    fn take_from_new_page(&self, bytes: u64, home: usize) -> Option<u64> {
        (home..self.policy.classes.len()).find_map(|class_idx| {
            let run = self.fetch(class_idx, false)?;
            let mut state = self.state.lock();
            // In one step: nobody else takes what this request had fetched.
            state.classes[class_idx].add(run);
            state.classes[class_idx].take(bytes)
        })
    }

    fn own_run(&self, bytes: u64) -> Option<u64> {
        let largest = self.policy.classes.last().map_or(0, |class| class.serves_up_to_bytes);
        if !self.policy.has_own_runs || bytes <= largest {
            return None;
        }
        let run_bytes = round_up(bytes, PAGE_BYTES)?;
        {
            let mut state = self.state.lock();
            if !state.has_room(run_bytes) {
                return None;
            }
            state.own_pending_bytes += run_bytes;
        }
        let run = self.ask(run_bytes);
        let mut state = self.state.lock();
        state.own_pending_bytes -= run_bytes;
        state.note_growth(run.is_some());
        let run = run?;
        let address = run.address();
        state.add_own_run(run);
        Some(address)
    }

    /// Adds a page to a class; false when limits or the source forbid it.
    fn grow(&self, class_idx: usize, is_spill: bool) -> bool {
        let run = self.fetch(class_idx, is_spill);
        let is_grown = run.is_some();
        if let Some(run) = run {
            self.state.lock().classes[class_idx].add(run);
        }
        is_grown
    }

    /// A page from the source, within the limits. Bytes that a larger class could not get may exceed
    /// the limit of a class, never that of the pool.
    fn fetch(&self, class_idx: usize, is_spill: bool) -> Option<S::Run> {
        let page_bytes = {
            let mut state = self.state.lock();
            let page_bytes = state.classes[class_idx].policy.page_bytes;
            if !(is_spill || state.classes[class_idx].can_grow()) || !state.has_room(page_bytes) {
                return None;
            }
            state.classes[class_idx].pending_bytes += page_bytes;
            page_bytes
        };
        let run = self.ask(page_bytes);
        let mut state = self.state.lock();
        state.classes[class_idx].pending_bytes -= page_bytes;
        state.note_growth(run.is_some());
        run
    }

    /// A run that has what was asked for. One that is too short is refused here, because everything
    /// that is built on the pool trusts the extents.
    fn ask(&self, bytes: u64) -> Option<S::Run> {
        let run = self.source.allocate(bytes);
        run.ok().filter(|run| run.bytes() >= bytes)
    }
}
