//! What is made of an input before it is evaluated: all of it, all but some steps, or the same
//! program with larger or smaller tensors. Pure functions of a workload.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::Workload;
use crate::workload::Step;

/// One per thousand: sizes are scaled by these.
const THOUSAND: u128 = 1000;

/// A version of an input.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Variant {
    /// Without the tensors that are born and die within one of these steps, from 0. A step ends at a
    /// synchronisation. What lives on into other steps stays, since those need it.
    pub without_steps: Range<usize>,
    /// Every size multiplied by this many thousandths, rounded up to a whole byte.
    pub thousandths: u32,
}

impl Default for Variant {
    /// As it was recorded.
    fn default() -> Self {
        Self { without_steps: 0..0, thousandths: 1000 }
    }
}

impl Variant {
    /// Whether it is the input as it was recorded.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.without_steps.is_empty() && self.thousandths == 1000
    }

    /// Makes this version of a workload. O(events).
    #[must_use]
    pub fn apply(&self, workload: &Workload) -> Workload {
        let mut version = workload.clone();
        if !self.without_steps.is_empty() {
            let is_left_out = transients(workload, &self.without_steps);
            version = version.filter(|position| !is_left_out[position]);
        }
        if self.thousandths != 1000 {
            let scale = |bytes| (u128::from(bytes) * u128::from(self.thousandths)).div_ceil(THOUSAND);
            version = version.map_sizes(|bytes: u64| u64::try_from(scale(bytes)).unwrap_or(u64::MAX));
        }
        version
    }
}

/// For each event whether it allocates a tensor that lives within one of the steps.
fn transients(workload: &Workload, steps: &Range<usize>) -> Vec<bool> {
    let mut is_left_out = vec![false; workload.n_events()];
    let mut born: Vec<(usize, usize)> = vec![(0, 0); workload.n_slots()];
    let mut step_idx = 0;
    for (position, step) in workload.steps().enumerate() {
        match step {
            Step::Allocate { slot, .. } => born[slot as usize] = (step_idx, position),
            Step::Free { slot } => {
                let (birth_idx, birth) = born[slot as usize];
                is_left_out[birth] = birth_idx == step_idx && steps.contains(&step_idx);
            }
            Step::Synchronize => step_idx += 1,
            Step::Nothing => {}
        }
    }
    is_left_out
}
