//! State of one reading. Knows the tables, the budget and the first error of our own; refuses to
//! lose that error's type on its way through the parser.

use crate::Error;
use crate::limits::{Budget, LimitKind, Limits};
use crate::model::{StackTable, StrId};

pub(super) struct Context {
    pub(super) stacks: StackTable,
    pub(super) budget: Budget,
    /// The first error of our own; the parser only carries its message.
    pub(super) error: Option<Error>,
    pub(super) max_depth: usize,
    n_extra_values: u64,
    max_extra_values: u64,
}

impl Context {
    pub(super) fn new(limits: &Limits, budget: Budget) -> Self {
        Self {
            stacks: StackTable::new(),
            budget,
            error: None,
            max_depth: limits.depth(),
            n_extra_values: 0,
            max_extra_values: limits.max_extra_values,
        }
    }

    /// Keeps an error aside and gives the parser something to stop with.
    pub(super) fn fail<E: serde::de::Error>(&mut self, error: Error) -> E {
        let message = E::custom(&error);
        self.error.get_or_insert(error);
        message
    }

    /// Passes a result on to the parser.
    pub(super) fn keep<T, E: serde::de::Error>(&mut self, result: Result<T, Error>) -> Result<T, E> {
        result.map_err(|error| self.fail(error))
    }

    /// The number of a text.
    pub(super) fn text<E: serde::de::Error>(&mut self, text: &str) -> Result<StrId, E> {
        let id = self.stacks.intern_text(text);
        self.check_table()?;
        Ok(id)
    }

    /// Checks the memory after the table may have grown.
    pub(super) fn check_table<E: serde::de::Error>(&mut self) -> Result<(), E> {
        let checked = self.budget.check(self.stacks.memory_bytes());
        self.keep(checked)
    }

    /// Counts one value under an unknown key.
    pub(super) fn count_extra<E: serde::de::Error>(&mut self) -> Result<(), E> {
        self.n_extra_values += 1;
        if self.n_extra_values > self.max_extra_values {
            return Err(self.fail(LimitKind::ExtraValues.error(self.max_extra_values)));
        }
        Ok(())
    }
}
