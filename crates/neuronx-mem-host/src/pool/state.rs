//! What the lock guards: the classes, the runs of their own, and the counters.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::allocation::{HostAllocation, HostChunk};
use super::class::Class;
use super::policy::{HostPoolPolicy, Preference, SplitPolicy};
use super::shadow::{DriverReport, Shadow, ShadowTicket};
use super::statistics::HostPoolStatistics;
use crate::{HostError, PAGE_BYTES, PageRun};

#[derive(Debug)]
pub(super) struct State<R> {
    pub(super) classes: Vec<Class<R>>,
    /// Runs that are one allocation each, by address.
    own_runs: BTreeMap<u64, R>,
    pub(super) own_pending_bytes: u64,
    limit_bytes: u64,
    shadow: Option<Shadow>,
    counters: HostPoolStatistics,
}

/// Chunks that are taken, before they are an allocation.
pub(super) type Chunks = SmallVec<[HostChunk; 1]>;

impl<R: PageRun> State<R> {
    pub(super) fn new(policy: &HostPoolPolicy) -> Result<Self, HostError> {
        Ok(Self {
            classes: policy.classes.iter().copied().map(Class::new).collect(),
            own_runs: BTreeMap::new(),
            own_pending_bytes: 0,
            limit_bytes: policy.limit_bytes,
            shadow: policy.compare_with.map(Shadow::new).transpose()?,
            counters: HostPoolStatistics::default(),
        })
    }

    /// The first class whose pages hold the request, by what makes it grow.
    pub(super) fn home(&self, bytes: u64) -> usize {
        let serves = |class: &Class<R>| class.policy.serves_up_to_bytes >= bytes;
        self.classes.iter().position(serves).unwrap_or(self.classes.len())
    }

    /// An extent of the request's own class, and with `preference` of larger ones too.
    pub(super) fn take_preferred(&mut self, bytes: u64, preference: Preference) -> Option<u64> {
        let home = self.home(bytes);
        let n_classes = match preference {
            Preference::LargerClasses => self.classes.len(),
            Preference::Growth => home + 1,
        };
        self.classes.iter_mut().take(n_classes).skip(home).find_map(|class| class.take(bytes))
    }

    /// An extent of any class that has one.
    pub(super) fn take_any(&mut self, bytes: u64) -> Option<u64> {
        self.classes.iter_mut().find_map(|class| class.take(bytes))
    }

    /// Chunks for the whole request within the policy's bounds, largest extents first; nothing stays
    /// taken when they do not suffice.
    pub(super) fn take_split(&mut self, bytes: u64, policy: SplitPolicy) -> Option<Chunks> {
        let SplitPolicy::Bounded { max_chunks, min_chunk_bytes } = policy else { return None };
        let mut chunks = Chunks::new();
        let mut missing = bytes;
        while missing > 0 && chunks.len() < max_chunks {
            if let Some(address) = self.take_any(missing) {
                chunks.push(HostChunk { address, bytes: missing });
                return Some(chunks);
            }
            let largest = self.largest_free_bytes();
            if largest < min_chunk_bytes {
                break;
            }
            let Some(address) = self.take_any(largest) else { break };
            chunks.push(HostChunk { address, bytes: largest });
            missing -= largest;
        }
        for chunk in chunks {
            self.give_back(chunk.address, chunk.bytes);
        }
        None
    }

    /// Returns a run that was this allocation alone, for the caller to drop without the lock.
    pub(super) fn give_back(&mut self, address: u64, bytes: u64) -> Option<R> {
        if self.classes.iter_mut().any(|class| class.give_back(address, bytes)) {
            return None;
        }
        self.own_runs.remove(&address)
    }

    pub(super) fn add_own_run(&mut self, run: R) {
        self.own_runs.insert(run.address(), run);
    }

    pub(super) fn surplus_pages(&mut self) -> Vec<R> {
        let mut released = Vec::new();
        self.classes.iter_mut().for_each(|class| class.surplus_pages(&mut released));
        released
    }

    /// Whether so many bytes more are within the pool's limit.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        let pending = self.classes.iter().map(|class| class.pending_bytes).sum::<u64>();
        let total = self.reserved_bytes() + pending + self.own_pending_bytes;
        total.saturating_add(bytes) <= self.limit_bytes
    }

    pub(super) fn no_extent(&self, requested_bytes: u64) -> HostError {
        HostError::NoExtent {
            requested_bytes,
            largest_free_bytes: self.largest_free_bytes(),
            free_bytes: self.free_bytes(),
            reserved_bytes: self.reserved_bytes(),
        }
    }

    pub(super) fn not_splittable(&self, requested_bytes: u64, policy: SplitPolicy) -> HostError {
        let (max_chunks, min_chunk_bytes) = match policy {
            SplitPolicy::Never => (1, PAGE_BYTES),
            SplitPolicy::Bounded { max_chunks, min_chunk_bytes } => (max_chunks, min_chunk_bytes),
        };
        HostError::NotSplittable {
            requested_bytes,
            max_chunks,
            min_chunk_bytes,
            largest_free_bytes: self.largest_free_bytes(),
            free_bytes: self.free_bytes(),
            reserved_bytes: self.reserved_bytes(),
        }
    }

    pub(super) fn note_allocation(&mut self, allocation: &mut HostAllocation) {
        let counters = &mut self.counters;
        counters.allocations += 1;
        counters.live_allocations += 1;
        counters.live_bytes += allocation.bytes;
        counters.peak_live_bytes = counters.peak_live_bytes.max(counters.live_bytes);
        if allocation.chunks.len() > 1 {
            counters.split_allocations += 1;
            counters.split_chunks += allocation.chunks.len() as u64;
        }
        if let Some(shadow) = &mut self.shadow {
            allocation.shadow = shadow.allocate(allocation.bytes);
        }
    }

    pub(super) fn note_failure(&mut self, bytes: u64) {
        self.counters.failures += 1;
        self.counters.largest_failed_bytes = self.counters.largest_failed_bytes.max(bytes);
    }

    pub(super) const fn note_growth(&mut self, is_success: bool) {
        self.counters.growths += is_success as u64;
        self.counters.failed_growths += !is_success as u64;
    }

    pub(super) fn note_free(&mut self, bytes: u64, ticket: ShadowTicket) {
        self.counters.live_allocations -= 1;
        self.counters.live_bytes -= bytes;
        if let Some(shadow) = &mut self.shadow {
            shadow.free(ticket);
        }
    }

    pub(super) fn statistics(&self) -> HostPoolStatistics {
        HostPoolStatistics {
            reserved_bytes: self.reserved_bytes(),
            free_bytes: self.free_bytes(),
            largest_free_bytes: self.largest_free_bytes(),
            classes: self.classes.iter().map(Class::statistics).collect(),
            ..self.counters.clone()
        }
    }

    pub(super) fn driver_report(&self) -> Option<DriverReport> {
        self.shadow.as_ref().map(Shadow::report)
    }

    fn reserved_bytes(&self) -> u64 {
        let own: u64 = self.own_runs.values().map(PageRun::bytes).sum();
        self.classes.iter().map(Class::bytes).sum::<u64>() + own
    }

    fn free_bytes(&self) -> u64 {
        self.classes.iter().map(Class::free_bytes).sum()
    }

    fn largest_free_bytes(&self) -> u64 {
        self.classes.iter().map(Class::largest_free_bytes).max().unwrap_or(0)
    }
}
