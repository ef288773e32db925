//! Objects stored for later reference. Knows dense indices cheaply and scattered ones safely;
//! refuses to allocate for an index that was not stored.

use std::collections::HashMap;

use super::val::Val;
use crate::Error;
use crate::limits::Budget;

/// The memo. Indices that follow one another are a vector, others a map.
#[derive(Debug, Default)]
pub(super) struct Memo {
    /// [`Val::UNSET`] where nothing was stored. No key of the map lies below its length.
    dense: Vec<Val>,
    scattered: HashMap<u32, Val>,
    /// Number of stored objects: the index that MEMOIZE takes.
    n_stored: u32,
}

/// Memory of one entry of the map, with its spare room and the copy while it grows.
const SCATTERED_BYTES: usize = 64;

/// The gap of unused indices that the vector bridges, so that a writer may reserve some.
const MAX_GAP: usize = 256;

impl Memo {
    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<Val> {
        match self.dense.get(index as usize) {
            Some(&stored) => (stored != Val::UNSET).then_some(stored),
            None => self.scattered.get(&index).copied(),
        }
    }

    /// Stores under the next index.
    #[inline]
    pub(super) fn memoize(&mut self, val: Val, budget: &mut Budget) -> Result<(), Error> {
        self.put(self.n_stored, val, budget)
    }

    pub(super) fn put(&mut self, index: u32, val: Val, budget: &mut Budget) -> Result<(), Error> {
        let position = index as usize;
        if let Some(stored) = self.dense.get_mut(position) {
            self.n_stored += u32::from(*stored == Val::UNSET);
            *stored = val;
            return Ok(());
        }
        if position > self.dense.len() + MAX_GAP {
            budget.charge(SCATTERED_BYTES)?;
            self.n_stored += u32::from(self.scattered.insert(index, val).is_none());
            return Ok(());
        }
        // The vector grows over indices that may sit in the map; those move.
        while self.dense.len() < position {
            let moved = u32::try_from(self.dense.len()).ok().and_then(|next| self.scattered.remove(&next));
            budget.push(&mut self.dense, moved.unwrap_or(Val::UNSET))?;
        }
        self.n_stored += u32::from(self.scattered.remove(&index).is_none());
        budget.push(&mut self.dense, val)
    }
}
