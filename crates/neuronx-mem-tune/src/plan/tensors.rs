//! Lifetimes: when each tensor of a workload is born and dies. Knows no addresses.

use crate::Workload;
use crate::workload::Step;

/// Blocks start on multiples of this (allocator semantics §3), so tensors occupy whole ones.
pub(crate) const GRANULE_BYTES: u64 = 64;

/// One tensor: it occupies memory from its birth to before its death.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tensor {
    /// Bytes asked for.
    pub(crate) bytes: u64,
    /// Bytes occupied: whole granules.
    pub(crate) extent: u64,
    /// Position of its allocation.
    pub(crate) birth: usize,
    /// Position of its free; the number of events when it is never freed.
    pub(crate) death: usize,
}

/// All tensors, in order of birth.
pub(crate) fn tensors_of(workload: &Workload) -> Vec<Tensor> {
    let mut tensors: Vec<Tensor> = Vec::new();
    let mut in_slot = vec![0; workload.n_slots()];
    for (position, step) in workload.steps().enumerate() {
        match step {
            Step::Allocate { slot, size_idx } => {
                in_slot[slot as usize] = tensors.len();
                let bytes = workload.sizes()[size_idx as usize];
                let extent = bytes.checked_next_multiple_of(GRANULE_BYTES).unwrap_or(bytes);
                tensors.push(Tensor { bytes, extent, birth: position, death: workload.n_events() });
            }
            Step::Free { slot } => tensors[in_slot[slot as usize]].death = position,
            Step::Synchronize | Step::Nothing => {}
        }
    }
    tensors
}
