//! All faults of one device, in the order in which they strike: memory comes and goes first, then
//! the call is refused or let through.

use neuronx_mem_runtime::{DeviceId, Operation, Status};

use super::counters::FaultCounters;
use super::failures::Failures;
use super::growth::Growth;
use super::holding::Holding;
use super::neighbour::Neighbour;
use super::overflow;
use super::pattern::Moment;
use super::placement::RandomStart;
use super::plan::FaultPlan;
use super::slow_frees::SlowFrees;
use crate::address_space::AddressSpace;

#[derive(Debug)]
pub(crate) struct Injector {
    failures: Failures,
    neighbour: Option<Neighbour>,
    pinholes: Holding,
    random_start: Option<RandomStart>,
    has_overflow: bool,
    pub(crate) growth: Growth,
    pub(crate) slow_frees: SlowFrees,
    pub(crate) counters: FaultCounters,
}

impl Injector {
    pub(crate) fn new(plan: &FaultPlan, device: DeviceId, space: &mut AddressSpace) -> Self {
        let seed = plan.seed;
        let pinholes = plan.pinholes.map(|pinholes| pinholes.take(space)).unwrap_or_default();
        let counters = FaultCounters { pinhole_bytes: pinholes.bytes(), ..FaultCounters::default() };
        Self {
            failures: Failures::new(&plan.failures, seed, device),
            neighbour: plan.neighbour.clone().map(|neighbour| Neighbour::new(neighbour, seed, device)),
            pinholes,
            random_start: plan.is_start_random.then(|| RandomStart::new(seed, device)),
            has_overflow: plan.has_overflow,
            growth: Growth::new(&plan.growths),
            slow_frees: SlowFrees::new(plan.slow_frees),
            counters,
        }
    }

    /// Lets the memory of others move, as it does before a call.
    pub(crate) fn tick(&mut self, now: Moment, space: &mut AddressSpace) {
        if let Some(neighbour) = &mut self.neighbour {
            neighbour.tick(now, space, &mut self.counters);
        }
        self.growth.tick(now.call, space, &mut self.counters);
    }

    /// Counts a call, and says with which status it fails if it does.
    pub(crate) fn refusal(&mut self, operation: Operation, bytes: u64) -> Option<Status> {
        if let Some(status) = self.failures.status_of_next(operation) {
            self.count_failure(operation);
            return Some(status);
        }
        if !self.has_overflow || operation != Operation::AllocateSegment {
            return None;
        }
        let status = overflow::status(bytes)?;
        self.counters.overflows_refused += 1;
        Some(status)
    }

    /// Where the search for a segment starts.
    pub(crate) fn search_start(&mut self, space: &AddressSpace) -> u64 {
        self.random_start.as_mut().map_or(space.range().start, |start| start.next(space))
    }

    /// Bytes in use by others than the allocator.
    pub(crate) fn foreign_bytes(&self) -> u64 {
        let c = &self.counters;
        c.neighbour_bytes + c.growth_bytes + c.model_bytes + c.pinhole_bytes
    }

    /// Ends all faults and gives back what they hold; no free may be on its way any more.
    pub(crate) fn stop(&mut self, space: &mut AddressSpace) {
        self.failures = Failures::default();
        if let Some(mut neighbour) = self.neighbour.take() {
            neighbour.give_all_back(space);
        }
        self.pinholes.give_all_back(space);
        self.growth.stop(space, &mut self.counters);
        self.slow_frees = SlowFrees::default();
        self.random_start = None;
        self.has_overflow = false;
        (self.counters.neighbour_bytes, self.counters.pinhole_bytes) = (0, 0);
    }

    fn count_failure(&mut self, operation: Operation) {
        let c = &mut self.counters;
        match operation {
            Operation::AllocateSegment => c.allocations_failed += 1,
            Operation::FreeSegment => c.frees_failed += 1,
            Operation::Slice => c.slices_failed += 1,
            Operation::FreeSlice => c.slice_frees_failed += 1,
            Operation::MemoryInfo => c.memory_infos_failed += 1,
            _ => {}
        }
    }
}
