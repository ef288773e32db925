//! Which allocations of a large recording go into the page one by one. Prefers whole moments to
//! large blocks: a map with holes in it says little.

use crate::Recording;

/// Evenly spaced moments that are shown whole, at most.
const MAX_SPACED: u64 = 64;

/// The choice.
#[derive(Clone, Debug, Default)]
pub(super) struct Chosen {
    /// Positions among the allocations, ascending.
    pub(super) idxs: Vec<u32>,
    /// Events at which all live allocations are among them, ascending. Unless `is_all`.
    pub(super) moments: Vec<u64>,
    /// Whether all allocations are.
    pub(super) is_all: bool,
    /// Most bytes that an allocation left out has.
    pub(super) largest_left_out: u64,
    /// Bytes of those left out after every event; empty when there are none.
    pub(super) rest_bytes: Vec<u64>,
}

impl Chosen {
    /// Chooses. O(allocations · log moments + events).
    pub(super) fn of(recording: &Recording, max_allocations: usize) -> Self {
        let n_all = u32::try_from(recording.allocations.len()).unwrap_or(u32::MAX);
        if n_all as usize <= max_allocations {
            return Self { idxs: (0..n_all).collect(), is_all: true, ..Self::default() };
        }
        let (moments, mut is_in, n_in) = whole_moments(recording, max_allocations);
        let sizes = &recording.allocations.block_bytes;
        let mut others: Vec<u32> = (0..n_all).filter(|idx| !is_in[*idx as usize]).collect();
        let n_more = (max_allocations - n_in).min(others.len());
        let key = |idx: &u32| (std::cmp::Reverse(sizes[*idx as usize]), *idx);
        if n_more < others.len() {
            others.select_nth_unstable_by_key(n_more, key);
        }
        others[..n_more].iter().for_each(|idx| is_in[*idx as usize] = true);
        let largest_left_out = others[n_more..].iter().map(|idx| sizes[*idx as usize]).max().unwrap_or(0);
        let idxs = (0..n_all).filter(|idx| is_in[*idx as usize]).collect();
        let rest_bytes = rest(recording, &is_in);
        Self { idxs, moments, is_all: false, largest_left_out, rest_bytes }
    }
}

/// As many moments as leave a quarter of the room: the peak, the last out-of-memory error and the end,
/// then evenly spaced ones. With which allocations live at them, and how many.
fn whole_moments(recording: &Recording, max_allocations: usize) -> (Vec<u64>, Vec<bool>, usize) {
    let n_events = recording.n_events();
    let room = max_allocations / 4 * 3;
    let mut n_spaced = MAX_SPACED;
    loop {
        let mut moments: Vec<u64> =
            (0..n_spaced).map(|step| n_events / (n_spaced + 1).max(1) * (step + 1)).collect();
        moments.extend([recording.totals.peak_event, n_events]);
        moments.extend(recording.ooms.last().map(|oom| oom.event));
        moments.sort_unstable();
        moments.dedup();
        let is_in = living(recording, &moments);
        let n_in = is_in.iter().filter(|is_in| **is_in).count();
        if n_in <= room {
            return (moments, is_in, n_in);
        }
        if n_spaced == 0 {
            // Not even the peak fits: there is no whole moment.
            return (Vec::new(), vec![false; recording.allocations.len()], 0);
        }
        n_spaced /= 2;
    }
}

/// For each allocation, whether it lives at one of the moments.
fn living(recording: &Recording, moments: &[u64]) -> Vec<bool> {
    let lives = recording.allocations.births.iter().zip(&recording.allocations.deaths);
    let at_one = |(birth, death): (&u64, &u64)| {
        let next = moments.partition_point(|moment| moment < birth);
        moments.get(next).is_some_and(|moment| moment < death)
    };
    lives.map(at_one).collect()
}

/// Bytes of the allocations left out, after every event.
fn rest(recording: &Recording, is_in: &[bool]) -> Vec<u64> {
    let n_points = recording.timeline.reserved_bytes.len();
    let mut bytes = vec![0_u64; n_points];
    let allocations = &recording.allocations;
    let place = |event: u64| usize::try_from(event).ok().filter(|idx| *idx < n_points);
    for (idx, _) in is_in.iter().enumerate().filter(|(_, is_in)| !**is_in) {
        let size = allocations.block_bytes[idx];
        if let Some(born) = place(allocations.births[idx]) {
            bytes[born] = bytes[born].wrapping_add(size);
        }
        if let Some(died) = place(allocations.deaths[idx]) {
            bytes[died] = bytes[died].wrapping_sub(size);
        }
    }
    // Changes become sums: what goes below zero on the way is made up for by what came before.
    bytes.iter_mut().fold(0_u64, |sum, change| {
        *change = sum.wrapping_add(*change);
        *change
    });
    bytes
}
