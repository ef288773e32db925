//! Answers that are known already: a search and its cross-validation ask many things twice.

use std::collections::HashMap;

use super::space::{Values, values_of};
use crate::{Evaluate, Evaluation, Figures, TuneError, Variant, Verdict};

/// All that an answer depends on but the bound.
type Question = (usize, Variant, Option<u64>, Values);

/// Asks an evaluator only what is new.
pub(crate) struct Memo<'a> {
    inner: &'a mut dyn Evaluate,
    known: HashMap<Question, Figures>,
    evaluated: u64,
}

impl<'a> Memo<'a> {
    pub(crate) fn new(inner: &'a mut dyn Evaluate) -> Self {
        Self { inner, known: HashMap::new(), evaluated: 0 }
    }

    /// How many evaluations the evaluator has made.
    pub(crate) fn evaluated(&self) -> u64 {
        self.evaluated
    }

    /// The figures of all questions, in their order.
    pub(crate) fn ask(&mut self, round: &[Evaluation]) -> Result<Vec<Figures>, TuneError> {
        let is_new = |asked: &&Evaluation| self.answer(asked).is_none();
        let mut new: Vec<Evaluation> = Vec::new();
        for asked in round.iter().filter(is_new) {
            if !new.contains(asked) {
                new.push(asked.clone());
            }
        }
        let figures = self.inner.evaluate(&new)?;
        if figures.len() != new.len() {
            return Err(TuneError::WrongResults { n_jobs: new.len(), n_results: figures.len() });
        }
        self.evaluated += new.len() as u64;
        for (asked, figures) in new.iter().zip(&figures) {
            self.known.insert(question(asked), *figures);
        }
        // A known answer satisfies its own question, whatever the bound.
        Ok(round.iter().filter_map(|asked| self.answer(asked)).collect())
    }

    /// What is known, if it says enough: of what was given up, that it exceeds the bound.
    fn answer(&self, asked: &Evaluation) -> Option<Figures> {
        let known = *self.known.get(&question(asked))?;
        let says_enough =
            known.verdict != Verdict::Abandoned || known.reserved_peak_bytes > asked.bound_bytes;
        let exceeds = known.is_finished() && known.reserved_peak_bytes > asked.bound_bytes;
        let verdict = if exceeds { Verdict::Abandoned } else { known.verdict };
        says_enough.then_some(Figures { verdict, ..known })
    }
}

fn question(asked: &Evaluation) -> Question {
    (asked.input_idx, asked.variant.clone(), asked.memory_bytes, values_of(&asked.config))
}
