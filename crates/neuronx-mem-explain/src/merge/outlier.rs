//! Which ranks are out of line. Knows medians only.

use super::Rank;
use crate::Lifetime;

/// A figure must be this many deviations off the median.
const DEVIATIONS: u64 = 5;

/// And by this part of the median: 1 in so many.
const LEAST_PART: u64 = 100;

/// A figure of one rank that is far from the other ranks'.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outlier {
    /// The rank.
    pub rank: u64,
    /// `peak`, `reserved`, or the name of a lifetime.
    pub category: &'static str,
    /// The rank's figure, bytes.
    pub bytes: u64,
    /// The median of all ranks, bytes.
    pub median_bytes: u64,
}

/// The outliers, by rank and then by category.
///
/// A figure is out of line when it is more than 1 % off the median of all ranks, and more than five
/// times as far as the median rank. Of two ranks neither is.
pub(super) fn outliers(ranks: &[Rank]) -> Vec<Outlier> {
    let mut columns = vec![("peak", column(ranks, |rank| Some(rank.peak_bytes)))];
    for (idx, lifetime) in Lifetime::ALL.into_iter().enumerate() {
        columns.push((lifetime.name(), column(ranks, |rank| Some(rank.at_peak_bytes[idx]))));
    }
    columns.push(("reserved", column(ranks, |rank| rank.reserved_bytes)));
    let mut outliers: Vec<Outlier> =
        columns.into_iter().flat_map(|(category, figures)| of_column(category, &figures)).collect();
    outliers.sort_by_key(|outlier| outlier.rank);
    outliers
}

fn column(ranks: &[Rank], figure: impl Fn(&Rank) -> Option<u64>) -> Vec<(u64, u64)> {
    ranks.iter().filter_map(|rank| Some((rank.rank, figure(rank)?))).collect()
}

fn of_column(category: &'static str, figures: &[(u64, u64)]) -> Vec<Outlier> {
    let median_bytes = median(figures.iter().map(|(_, bytes)| *bytes));
    let deviation = median(figures.iter().map(|(_, bytes)| bytes.abs_diff(median_bytes)));
    let is_far = |bytes: u64| {
        let off = bytes.abs_diff(median_bytes);
        off > deviation.saturating_mul(DEVIATIONS) && off > median_bytes / LEAST_PART
    };
    let outlier = |(rank, bytes): &(u64, u64)| Outlier { rank: *rank, category, bytes: *bytes, median_bytes };
    figures.iter().filter(|(_, bytes)| is_far(*bytes)).map(outlier).collect()
}

/// The lower of the two middle values of an even number.
fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    match values.len() {
        0 => 0,
        // Between two there is no majority: the middle is as far from either.
        2 => values[0].midpoint(values[1]),
        n => values[(n - 1) / 2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(figures: &[u64], expected: &[u64]) {
        let figures: Vec<(u64, u64)> = (0..).zip(figures.iter().copied()).collect();
        let found: Vec<u64> = of_column("peak", &figures).iter().map(|outlier| outlier.rank).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn one_rank_among_equals_is_out_of_line() {
        check(&[1000, 1000, 1000, 1200], &[3]);
        check(&[1000, 500, 1000], &[1]);
        check(&[0, 0, 64], &[2]);
    }

    #[test]
    fn small_and_common_differences_are_not() {
        check(&[1000, 1000, 1000, 1005], &[]);
        check(&[1000, 1100, 1200, 1300], &[]);
        check(&[1000, 2000], &[]);
        check(&[7], &[]);
    }
}
