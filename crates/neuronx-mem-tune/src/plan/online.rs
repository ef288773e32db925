//! A plan in use: each allocation takes its planned place if that is free, and the ordinary allocator
//! serves the rest. Says what a run costs that is not quite the planned one.

use std::collections::{BTreeMap, HashMap, VecDeque};

use neuronx_mem::AllocatorConfig;
use neuronx_mem::pool::{BlockId, SegmentPool};

use super::Plan;
use super::tensors::GRANULE_BYTES;
use crate::search::Random;
use crate::workload::Step;
use crate::{TuneError, Workload};

/// How far from where a run stands in its plan a place may be taken.
const WINDOW: usize = 32;

/// Addresses of the fall-back's segments; they only need to differ.
const FIRST_ADDRESS: u64 = 1 << 40;

/// What following a plan came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FollowedPlan {
    /// Tensors at their planned place.
    pub n_planned: u64,
    /// Tensors that the fall-back served.
    pub n_fallback: u64,
    /// The planned range and the most that the fall-back reserved.
    pub reserved_peak_bytes: u64,
}

/// How a run differs from the planned one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// So many of a thousand tensors are an eighth larger.
    pub per_thousand: u64,
    /// Which ones: the start of the pseudo-random choice.
    pub seed: u64,
}

/// Runs a workload by a plan, with the ordinary allocator under default settings as a fall-back.
///
/// An allocation takes the planned place of its size that is nearest to where the run stands, within 32
/// tensors, when nothing lies there.
/// The plan of the same workload is followed to the letter.
///
/// # Errors
///
/// [`TuneError::SizeOverflow`].
pub fn follow(
    plan: &Plan,
    workload: &Workload,
    deviation: Option<Deviation>,
) -> Result<FollowedPlan, TuneError> {
    let mut random = Random::new(deviation.map_or(0, |deviation| deviation.seed));
    let per_thousand = deviation.map_or(0, |deviation| deviation.per_thousand);
    let larger: Vec<bool> = (0..workload.n_tensors()).map(|_| random.next() % 1000 < per_thousand).collect();
    let mut runner = Runner::new(plan);
    let mut homes = vec![Home::Nowhere; workload.n_slots()];
    let mut nth = 0;
    for step in workload.steps() {
        match step {
            Step::Allocate { slot, size_idx } => {
                let bytes = workload.sizes()[size_idx as usize];
                let is_larger = larger.get(nth).copied().unwrap_or(false);
                let bytes = if is_larger { bytes.saturating_add(bytes.div_ceil(8)) } else { bytes };
                nth += 1;
                let overflow = || {
                    let input = workload.name().to_owned();
                    TuneError::SizeOverflow { input, requested_bytes: bytes }
                };
                homes[slot as usize] = runner.allocate(bytes).ok_or_else(overflow)?;
            }
            Step::Free { slot } => runner.free(homes[slot as usize]),
            Step::Synchronize | Step::Nothing => {}
        }
    }
    Ok(FollowedPlan {
        n_planned: runner.n_planned,
        n_fallback: runner.n_fallback,
        reserved_peak_bytes: plan.planned_peak_bytes.saturating_add(runner.reserved_bytes),
    })
}

#[derive(Clone, Copy)]
enum Home {
    Nowhere,
    Planned { offset: u64 },
    Fallback(BlockId),
}

struct Runner<'a> {
    plan: &'a Plan,
    /// Planned tensors not yet used, by size, in order.
    waiting: HashMap<u64, VecDeque<usize>>,
    /// The planned tensor that comes next if nothing differs.
    expected: usize,
    /// Start and end of what lies in the planned range.
    taken: BTreeMap<u64, u64>,
    pool: SegmentPool,
    next_address: u64,
    reserved_bytes: u64,
    n_planned: u64,
    n_fallback: u64,
}

impl<'a> Runner<'a> {
    fn new(plan: &'a Plan) -> Self {
        let mut waiting: HashMap<u64, VecDeque<usize>> = HashMap::new();
        for (idx, tensor) in plan.tensors.iter().enumerate() {
            waiting.entry(tensor.bytes).or_default().push_back(idx);
        }
        Self {
            plan,
            waiting,
            expected: 0,
            taken: BTreeMap::new(),
            pool: SegmentPool::new(&AllocatorConfig::default()),
            next_address: FIRST_ADDRESS,
            reserved_bytes: 0,
            n_planned: 0,
            n_fallback: 0,
        }
    }

    /// `None` for a size that overflows.
    fn allocate(&mut self, bytes: u64) -> Option<Home> {
        if let Some(offset) = self.planned(bytes) {
            self.taken.insert(offset, offset + bytes.checked_next_multiple_of(GRANULE_BYTES)?);
            self.n_planned += 1;
            return Some(Home::Planned { offset });
        }
        self.n_fallback += 1;
        let request = self.pool.policy().plan(bytes).ok()?;
        if let Some(placement) = self.pool.allocate(&request) {
            return Some(Home::Fallback(placement.id));
        }
        let segment = self.pool.policy().segment_bytes(&request).ok()?;
        let address = self.next_address;
        self.next_address = address.checked_add(segment.checked_next_multiple_of(1 << 20)?)?;
        self.reserved_bytes = self.reserved_bytes.saturating_add(segment);
        let placement = self.pool.grow(&request, address, segment, 0).ok()?;
        Some(Home::Fallback(placement.id))
    }

    /// The planned place of this size that is nearest to where the run stands, if it is free.
    fn planned(&mut self, bytes: u64) -> Option<u64> {
        let expected = self.expected;
        self.expected += 1;
        let queue = self.waiting.get_mut(&bytes)?;
        // Places that the run has long passed belong to tensors that never came.
        while queue.front().is_some_and(|idx| idx + WINDOW < expected) {
            queue.pop_front();
        }
        let above = queue.partition_point(|idx| *idx < expected);
        let candidates = [above.checked_sub(1), Some(above)].into_iter().flatten();
        let near = candidates.filter_map(|at| Some((queue.get(at)?.abs_diff(expected), at)));
        let (_, at) = near.filter(|(distance, _)| *distance <= WINDOW).min()?;
        let idx = queue.remove(at)?;
        self.expected = idx + 1;
        let offset = self.plan.tensors[idx].offset_bytes;
        let end = offset.checked_add(bytes)?;
        let is_free = self.taken.range(..end).next_back().is_none_or(|(_, taken_end)| *taken_end <= offset);
        is_free.then_some(offset)
    }

    fn free(&mut self, home: Home) {
        match home {
            Home::Nowhere => {}
            Home::Planned { offset } => {
                self.taken.remove(&offset);
            }
            // Each block is freed once.
            Home::Fallback(id) => drop(self.pool.free(id)),
        }
    }
}
