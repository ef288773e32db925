//! A noisy neighbour: the other logical core of the stack, whose memory grows and shrinks.

use std::ops::RangeInclusive;

use neuronx_mem_runtime::DeviceId;

use super::counters::FaultCounters;
use super::holding::Holding;
use super::pattern::{FaultSpan, Moment};
use super::seed::{Purpose, between, number};
use crate::address_space::AddressSpace;

/// A plan's neighbour: a new level each period, drawn from the seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoisyNeighbour {
    pub(crate) period: FaultSpan,
    pub(crate) level_bytes: RangeInclusive<u64>,
}

#[derive(Debug)]
pub(crate) struct Neighbour {
    plan: NoisyNeighbour,
    seed: u64,
    device: DeviceId,
    holding: Holding,
}

impl Neighbour {
    pub(crate) fn new(plan: NoisyNeighbour, seed: u64, device: DeviceId) -> Self {
        Self { plan, seed, device, holding: Holding::default() }
    }

    /// Moves towards the level of the current period; hungry when memory was missing before.
    pub(crate) fn tick(&mut self, now: Moment, space: &mut AddressSpace, counters: &mut FaultCounters) {
        let before = self.holding.bytes();
        self.holding.move_to(self.level_bytes(now), space);
        counters.neighbour_moves += u64::from(self.holding.bytes() != before);
        counters.neighbour_bytes = self.holding.bytes();
    }

    pub(crate) fn give_all_back(&mut self, space: &mut AddressSpace) {
        self.holding.give_all_back(space);
    }

    /// Nothing before the first period is over.
    fn level_bytes(&self, now: Moment) -> u64 {
        match self.plan.period.elapsed(now) {
            0 => 0,
            period => {
                let drawn = number(self.seed, Purpose::Neighbour, u64::from(self.device.0), period);
                between(drawn, *self.plan.level_bytes.start(), *self.plan.level_bytes.end())
            }
        }
    }
}
