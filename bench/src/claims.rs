//! The ratios that must hold within one run. Absolute times are shown, never judged.

use std::fmt;

use crate::measure::Cell;
use crate::readings;
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
        ("history on, corpus <= 1.6 x off", "facade, history on", "facade handle", 1.6),
    ];
    let mut verdicts: Vec<Verdict> = claims
        .into_iter()
        .filter_map(|(claim, left, right, limit)| {
            Some(verdict(claim, corpus_ratio(cells, left, right)?, limit))
        })
        .collect();
    let reading = |subject| find(cells, subject, readings::WORKLOAD).map(|cell| cell.median_ns);
    if let (Some(ours), Some(load)) = (reading("memory_allocated()"), reading("atomic load")) {
        verdicts.push(verdict("memory_allocated() <= 5 x an atomic load", ours / load, 5.0));
    }
    verdicts
}

fn verdict(claim: &'static str, measured: f64, limit: f64) -> Verdict {
    Verdict { claim, measured, limit, holds: measured <= limit }
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
