//! The ratios that must hold within one run. Absolute times are shown, never judged.

use std::fmt;

use crate::measure::Cell;
use crate::table::find;
use crate::workload::TRACES;

/// A claimed ratio and what was measured.
#[derive(Debug)]
pub struct Verdict {
    pub claim: &'static str,
    pub measured: f64,
    pub limit: f64,
    pub holds: bool,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.holds { "holds" } else { "FAILS" };
        write!(f, "{word}: {} (measured {:.3}, limit {:.3})", self.claim, self.measured, self.limit)
    }
}

/// Judges every claim for which both sides were measured.
pub fn verdicts(cells: &[Cell]) -> Vec<Verdict> {
    let claims = [
        ("pool on the corpus <= 2.5 x mimalloc (sizes/256)", "pool", "mimalloc (sizes/256)", 2.5),
        ("pool on the corpus <= 1/3 of BTreeSet + map", "pool", "BTreeSet best fit + map", 1.0 / 3.0),
        ("facade on the corpus <= 1.6 x pool", "facade handle", "pool", 1.6),
    ];
    claims
        .into_iter()
        .filter_map(|(claim, left, right, limit)| {
            let measured = corpus_ratio(cells, left, right)?;
            Some(Verdict { claim, measured, limit, holds: measured <= limit })
        })
        .collect()
}

/// Geometric mean of the ratio of two rows over the corpus traces.
fn corpus_ratio(cells: &[Cell], left: &str, right: &str) -> Option<f64> {
    let mut logarithms = 0.0;
    for trace in TRACES {
        let (left, right) = (find(cells, left, trace)?, find(cells, right, trace)?);
        logarithms += (left.median_ns / right.median_ns).ln();
    }
    Some((logarithms / TRACES.len() as f64).exp())
}
