//! One packing: tensors in a given order, each at the lowest place that is free for all its life.

use super::tensors::{GRANULE_BYTES, Tensor};

/// Offsets of all tensors, and the end of the highest.
#[derive(Clone, Debug)]
pub(crate) struct Packing {
    pub(crate) offsets: Vec<u64>,
    pub(crate) peak: u64,
}

/// Places tensors in an order; gives up above `limit`. O(n · overlaps · log n).
pub(crate) fn first_fit(tensors: &[Tensor], order: &[u32], limit: u64) -> Option<Packing> {
    let mut placed = Placed::new(tensors);
    let mut offsets = vec![0; tensors.len()];
    let mut peak = 0;
    let mut taken: Vec<(u64, u64)> = Vec::new();
    for &idx in order {
        let tensor = &tensors[idx as usize];
        taken.clear();
        placed.overlapping(tensor, |other| {
            taken.push((offsets[other], offsets[other] + tensors[other].extent));
        });
        let offset = lowest_gap(&mut taken, tensor.extent);
        let end = offset.checked_add(tensor.extent)?;
        if end > limit {
            return None;
        }
        peak = peak.max(end);
        offsets[idx as usize] = offset;
        placed.insert(idx as usize);
    }
    Some(Packing { offsets, peak })
}

/// The lowest offset where so many bytes lie free between the ranges taken.
fn lowest_gap(taken: &mut [(u64, u64)], extent: u64) -> u64 {
    taken.sort_unstable();
    let mut covered = 0;
    for &(start, end) in taken.iter() {
        if start >= covered && start - covered >= extent {
            break;
        }
        covered = covered.max(end);
    }
    covered.next_multiple_of(GRANULE_BYTES)
}

/// The tensors placed so far, to be asked which overlap another in time: a tree over the tensors in
/// order of birth whose nodes know the latest death below them.
struct Placed<'a> {
    tensors: &'a [Tensor],
    n_leaves: usize,
    latest_death: Vec<usize>,
}

impl<'a> Placed<'a> {
    fn new(tensors: &'a [Tensor]) -> Self {
        let n_leaves = tensors.len().next_power_of_two();
        Self { tensors, n_leaves, latest_death: vec![0; 2 * n_leaves] }
    }

    fn insert(&mut self, idx: usize) {
        let death = self.tensors[idx].death;
        let mut node = self.n_leaves + idx;
        while node > 0 && self.latest_death[node] < death {
            self.latest_death[node] = death;
            node /= 2;
        }
    }

    fn overlapping(&self, tensor: &Tensor, mut found: impl FnMut(usize)) {
        // Those born before this one dies stand before this index.
        let n_before = self.tensors.partition_point(|other| other.birth < tensor.death);
        self.visit(1, 0, self.n_leaves, n_before, tensor.birth, &mut found);
    }

    fn visit(
        &self,
        node: usize,
        start: usize,
        end: usize,
        n_before: usize,
        birth: usize,
        found: &mut impl FnMut(usize),
    ) {
        if start >= n_before || self.latest_death[node] <= birth {
            return;
        }
        if end - start == 1 {
            return found(start);
        }
        let middle = start.midpoint(end);
        self.visit(2 * node, start, middle, n_before, birth, found);
        self.visit(2 * node + 1, middle, end, n_before, birth, found);
    }
}
