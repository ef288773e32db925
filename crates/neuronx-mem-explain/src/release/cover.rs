//! Covering an amount at the least cost: which items to take so that their bytes suffice. Knows
//! nothing of memory.

use super::cost::Cost;

/// Most cells of the table; beyond it amounts are counted in larger units.
const MAX_CELLS: u64 = 1 << 27;

/// Longest row of the table, for the memory it takes.
const MAX_UNITS: u64 = 1 << 21;

/// Something that can be taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) bytes: u64,
    pub(super) cost: Cost,
}

/// The items taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cover {
    /// Their positions, ascending.
    pub(super) items: Vec<usize>,
    /// No cover costs less, in the first of the two costs.
    pub(super) bound: u64,
}

impl Cover {
    /// The cheapest items that together have so many bytes; `None` when all are too few.
    ///
    /// Exact while items times units stay below [`MAX_CELLS`], where a unit is what all sizes are
    /// multiples of. Beyond that units are made larger. With sizes rounded down to them every cover is
    /// a valid one; with sizes rounded up no valid one is missed, which gives a bound. Where there are
    /// many items the greedy choice and the fractional bound are closer, and are taken.
    pub(super) fn cheapest(items: &[Item], missing_bytes: u64) -> Option<Self> {
        Self::cheapest_within(items, missing_bytes, MAX_CELLS)
    }

    /// As [`cheapest`](Self::cheapest), with a table of at most so many cells.
    fn cheapest_within(items: &[Item], missing_bytes: u64, max_cells: u64) -> Option<Self> {
        let free = |item: &Item| item.cost == Cost::default();
        let given: u64 =
            items.iter().filter(|item| free(item)).fold(0, |sum, item| sum.saturating_add(item.bytes));
        let all = items.iter().fold(0_u64, |sum, item| sum.saturating_add(item.bytes));
        if all < missing_bytes {
            return None;
        }
        let costly: Vec<usize> = (0..items.len()).filter(|idx| !free(&items[*idx])).collect();
        let wanted = missing_bytes.saturating_sub(given);
        let (taken, bound) = cheapest_of(items, &costly, wanted, max_cells);
        let mut chosen: Vec<usize> = if missing_bytes == 0 {
            Vec::new()
        } else {
            (0..items.len()).filter(|idx| free(&items[*idx])).collect()
        };
        chosen.extend(taken);
        chosen.sort_unstable();
        Some(Self { items: chosen, bound })
    }
}

/// The cheapest of some items, and a bound on what any choice costs.
fn cheapest_of(items: &[Item], costly: &[usize], wanted_bytes: u64, max_cells: u64) -> (Vec<usize>, u64) {
    if wanted_bytes == 0 {
        return (Vec::new(), 0);
    }
    let exact = costly.iter().fold(0, |unit, idx| gcd(unit, items[*idx].bytes)).max(1);
    let max_units = (max_cells / (costly.len() as u64).max(1)).clamp(2, MAX_UNITS);
    let unit = exact.max(wanted_bytes.div_ceil(max_units - 1));
    let n_units = usize::try_from(wanted_bytes.div_ceil(unit)).unwrap_or(usize::MAX);
    let cost = |taken: &[usize]| taken.iter().fold(Cost::default(), |sum, idx| sum.plus(items[*idx].cost));
    // What covers with sizes rounded up costs no more than any real cover, and may be one.
    let optimist = table(items, costly, n_units, &|idx| items[*idx].bytes.div_ceil(unit));
    let bound = cost(&optimist).first;
    if optimist.iter().fold(0_u64, |sum, idx| sum.saturating_add(items[*idx].bytes)) >= wanted_bytes {
        return (optimist, bound);
    }
    let (greedy, fraction) = greedy(items, costly, wanted_bytes);
    let bound = bound.max(fraction);
    let units_of = |idx: &usize| items[*idx].bytes / unit;
    if costly.iter().map(units_of).fold(0, u64::saturating_add) < n_units as u64 {
        return (greedy, bound);
    }
    let rounded = table(items, costly, n_units, &units_of);
    (if cost(&greedy) < cost(&rounded) { greedy } else { rounded }, bound)
}

/// The items with the most bytes for their cost until they suffice, without those that turn out
/// superfluous; and the cost when the last of them may be taken in part, which none is below.
fn greedy(items: &[Item], costly: &[usize], wanted_bytes: u64) -> (Vec<usize>, u64) {
    let mut order = costly.to_vec();
    let rate = |idx: &usize| (u128::from(items[*idx].cost.first), u128::from(items[*idx].bytes.max(1)));
    order.sort_by(|a, b| {
        let ((cost_a, bytes_a), (cost_b, bytes_b)) = (rate(a), rate(b));
        (cost_a * bytes_b).cmp(&(cost_b * bytes_a)).then(a.cmp(b))
    });
    let (mut taken, mut bytes, mut fraction) = (Vec::new(), 0_u64, 0_u64);
    for idx in order {
        let item = &items[idx];
        let left = wanted_bytes - bytes;
        let part =
            u128::from(item.cost.first) * u128::from(left.min(item.bytes)) / u128::from(item.bytes.max(1));
        fraction = fraction.saturating_add(u64::try_from(part).unwrap_or(u64::MAX));
        taken.push(idx);
        bytes = bytes.saturating_add(item.bytes);
        if bytes >= wanted_bytes {
            break;
        }
    }
    let mut dearest = taken.clone();
    dearest.sort_by_key(|idx| (std::cmp::Reverse(items[*idx].cost), *idx));
    for idx in dearest {
        if bytes - items[idx].bytes >= wanted_bytes {
            bytes -= items[idx].bytes;
            taken.retain(|other| *other != idx);
        }
    }
    (taken, fraction)
}

/// Dynamic programming over amounts: cost of covering 0 to `wanted` units with the items so far, and
/// one bit a cell for whether the last of them is taken.
fn table(items: &[Item], costly: &[usize], wanted: usize, units_of: &dyn Fn(&usize) -> u64) -> Vec<usize> {
    let mut costs: Vec<Option<Cost>> = vec![None; wanted + 1];
    costs[0] = Some(Cost::default());
    let words = wanted / 64 + 1;
    let mut bits = vec![0_u64; words * costly.len()];
    for (row, idx) in costly.iter().enumerate() {
        let units = usize::try_from(units_of(idx)).unwrap_or(usize::MAX);
        // Downwards, so that each item is taken once.
        for amount in (1..=wanted).rev() {
            let Some(before) = costs[amount.saturating_sub(units)].filter(|_| units > 0) else { continue };
            let with = before.plus(items[*idx].cost);
            if costs[amount].is_none_or(|without| with < without) {
                costs[amount] = Some(with);
                bits[row * words + amount / 64] |= 1 << (amount % 64);
            }
        }
    }
    let mut taken = Vec::new();
    let mut amount = wanted;
    for (row, idx) in costly.iter().enumerate().rev() {
        if bits[row * words + amount / 64] >> (amount % 64) & 1 == 1 {
            taken.push(*idx);
            amount = amount.saturating_sub(usize::try_from(units_of(idx)).unwrap_or(usize::MAX));
        }
    }
    taken
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
#[path = "cover/tests.rs"]
mod tests;
