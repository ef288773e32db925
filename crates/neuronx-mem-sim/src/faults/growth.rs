//! Memory that the runtime takes for itself: collectives and models by call number, models on
//! request. Holds no code and loads nothing.

use std::collections::BTreeMap;
use std::ops::Range;

use super::counters::FaultCounters;
use super::holding::Holding;
use crate::address_space::AddressSpace;

/// One step of a plan: the runtime takes `bytes` before it serves that call on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RuntimeGrowth {
    pub(crate) at_call: u64,
    pub(crate) bytes: u64,
}

/// A simulated runtime's name for one loaded model; opaque, compared only for equality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelHandle(pub u64);

#[derive(Debug, Default)]
pub(crate) struct Growth {
    steps: Vec<RuntimeGrowth>,
    holding: Holding,
    models: BTreeMap<ModelHandle, Range<u64>>,
    n_models: u64,
}

impl Growth {
    pub(crate) fn new(steps: &[RuntimeGrowth]) -> Self {
        Self { steps: steps.to_vec(), ..Self::default() }
    }

    /// Grows if the plan has this call; by less when less is free.
    pub(crate) fn tick(&mut self, call: u64, space: &mut AddressSpace, counters: &mut FaultCounters) {
        for step in self.steps.iter().filter(|step| step.at_call == call) {
            self.holding.move_to(self.holding.bytes().saturating_add(step.bytes), space);
            counters.growths += 1;
        }
        counters.growth_bytes = self.holding.bytes();
    }

    /// Puts a model into the highest gap that holds it in one piece.
    pub(crate) fn load(
        &mut self,
        bytes: u64,
        space: &mut AddressSpace,
        counters: &mut FaultCounters,
    ) -> Option<ModelHandle> {
        let Some(range) = space.take_highest(bytes) else {
            counters.models_refused += 1;
            return None;
        };
        self.n_models += 1;
        let model = ModelHandle(self.n_models);
        counters.models_loaded += 1;
        counters.model_bytes += range.end - range.start;
        self.models.insert(model, range);
        Some(model)
    }

    /// False for a model that is not loaded.
    pub(crate) fn unload(
        &mut self,
        model: ModelHandle,
        space: &mut AddressSpace,
        counters: &mut FaultCounters,
    ) -> bool {
        let Some(range) = self.models.remove(&model) else { return false };
        counters.model_bytes -= range.end - range.start;
        space.give_back(range);
        true
    }

    /// Ends the plan's growth; models stay.
    pub(crate) fn stop(&mut self, space: &mut AddressSpace, counters: &mut FaultCounters) {
        self.steps.clear();
        self.holding.give_all_back(space);
        counters.growth_bytes = 0;
    }

    pub(crate) fn unload_all(&mut self, space: &mut AddressSpace, counters: &mut FaultCounters) {
        while let Some((_, range)) = self.models.pop_first() {
            space.give_back(range);
        }
        counters.model_bytes = 0;
    }
}
