//! Whether a series rises, how fast, and how likely chance would make it. Robust against single
//! outliers: the slope of Theil and Sen, the test of Mann and Kendall.

/// Longest series that is looked at in full; of longer ones evenly spaced values are.
const MAX_VALUES: usize = 400;

/// Longest series without equal values whose chance is counted exactly.
const MAX_EXACT: usize = 40;

/// The trend of live bytes from step to step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Trend {
    /// Median over all pairs of steps of the change a step, bytes.
    pub bytes_per_step: f64,
    /// How often a series without a trend would rise as clearly: 0 to 1.
    pub chance: f64,
    /// The first value.
    pub first_bytes: u64,
    /// The last value.
    pub last_bytes: u64,
}

impl Trend {
    /// The trend of a series, one value a step. O(n²) in at most 400 values.
    ///
    /// ```
    /// use neuronx_mem_explain::Trend;
    ///
    /// let trend = Trend::of(&[10, 20, 30, 40, 50]);
    /// assert_eq!(trend.bytes_per_step, 10.0);
    /// assert!((trend.chance - 1.0 / 120.0).abs() < 1e-12, "one order of 120 rises throughout");
    /// ```
    #[must_use]
    pub fn of(values: &[u64]) -> Self {
        let (Some(first_bytes), Some(last_bytes)) = (values.first().copied(), values.last().copied()) else {
            return Self { bytes_per_step: 0.0, chance: 1.0, first_bytes: 0, last_bytes: 0 };
        };
        let points = sample(values);
        Self { bytes_per_step: slope(&points), chance: chance(&points), first_bytes, last_bytes }
    }
}

/// Positions and values, few enough.
fn sample(values: &[u64]) -> Vec<(usize, u64)> {
    let n = values.len().min(MAX_VALUES);
    let place = |idx: usize| if n < 2 { 0 } else { idx * (values.len() - 1) / (n - 1) };
    (0..n).map(|idx| (place(idx), values[place(idx)])).collect()
}

fn slope(points: &[(usize, u64)]) -> f64 {
    let mut slopes: Vec<f64> = pairs(points)
        .map(|((at_a, a), (at_b, b))| (i128::from(b) - i128::from(a)) as f64 / (at_b - at_a) as f64)
        .collect();
    if slopes.is_empty() {
        return 0.0;
    }
    slopes.sort_by(f64::total_cmp);
    let middle = slopes.len() / 2;
    if slopes.len() % 2 == 1 { slopes[middle] } else { (slopes[middle - 1] + slopes[middle]) / 2.0 }
}

fn pairs(points: &[(usize, u64)]) -> impl Iterator<Item = ((usize, u64), (usize, u64))> + '_ {
    (0..points.len()).flat_map(move |b| (0..b).map(move |a| (points[a], points[b])))
}

/// One-sided: rises only.
fn chance(points: &[(usize, u64)]) -> f64 {
    let n = points.len();
    let falls = pairs(points).filter(|((_, a), (_, b))| b < a).count();
    let rises = pairs(points).filter(|((_, a), (_, b))| b > a).count();
    let has_ties = falls + rises < n * n.saturating_sub(1) / 2;
    if !has_ties && n <= MAX_EXACT { exact(n, falls) } else { normal(points, rises as f64 - falls as f64) }
}

/// Share of all orders of `n` values with at most so many falling pairs.
fn exact(n: usize, falls: usize) -> f64 {
    // Orders of k values by falling pairs: a new largest value makes 0 to k - 1 of them.
    let mut shares = vec![1.0];
    for k in 2..=n {
        let mut next = vec![0.0; shares.len() + k - 1];
        for (idx, share) in shares.iter().enumerate() {
            next[idx..idx + k].iter_mut().for_each(|value| *value += share / k as f64);
        }
        shares = next;
    }
    shares.iter().take(falls + 1).sum::<f64>().min(1.0)
}

/// The normal approximation, corrected for equal values and for continuity.
fn normal(points: &[(usize, u64)], score: f64) -> f64 {
    let mut values: Vec<u64> = points.iter().map(|(_, value)| *value).collect();
    values.sort_unstable();
    let spread = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let ties: f64 = values.chunk_by(|a, b| a == b).map(|group| spread(group.len() as f64)).sum();
    let variance = (spread(values.len() as f64) - ties) / 18.0;
    if variance <= 0.0 {
        return 1.0;
    }
    upper_tail((score - score.signum()) / variance.sqrt())
}

/// Share of the normal distribution above `z`, to seven digits (Abramowitz and Stegun 26.2.17).
fn upper_tail(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - upper_tail(-z);
    }
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let terms = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let sum = terms.iter().rev().fold(0.0, |sum, term| (sum + term) * t);
    sum * (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_counts_orders_exactly() {
        // Of the six orders of three values, one has no falling pair and two have one.
        assert!((exact(3, 0) - 1.0 / 6.0).abs() < 1e-12);
        assert!((exact(3, 1) - 3.0 / 6.0).abs() < 1e-12);
        assert!((exact(3, 3) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_approximation_agrees_with_the_count() {
        for falls in [0, 40, 100, 200, 380] {
            let n = 30;
            let pairs = f64::from(n * (n - 1) / 2);
            let n = usize::try_from(n).unwrap();
            let score = pairs - 2.0 * falls as f64;
            let points: Vec<_> = (0..n).map(|idx| (idx, idx as u64)).collect();
            let (exact, normal) = (exact(n, falls), normal(&points, score));
            assert!((exact - normal).abs() < 0.01, "{falls}: {exact} and {normal}");
        }
    }

    #[test]
    fn flat_and_falling_series_are_no_rise() {
        assert_eq!(Trend::of(&[7; 20]).chance, 1.0);
        assert_eq!(Trend::of(&[7; 20]).bytes_per_step, 0.0);
        assert!(Trend::of(&[9, 8, 7, 6, 5, 4]).chance > 0.99);
        assert_eq!(Trend::of(&[]).chance, 1.0);
        assert_eq!(Trend::of(&[3]).bytes_per_step, 0.0);
    }

    #[test]
    fn one_outlier_does_not_bend_the_slope() {
        assert_eq!(Trend::of(&[0, 10, 20, 9_000, 40, 50, 60]).bytes_per_step, 10.0);
    }

    #[test]
    fn a_long_series_is_sampled_from_end_to_end() {
        let values: Vec<u64> = (0..100_000).map(|step| step * 3).collect();
        let trend = Trend::of(&values);
        assert_eq!((trend.bytes_per_step, trend.last_bytes), (3.0, 299_997));
        assert!(trend.chance < 1e-9);
    }
}
